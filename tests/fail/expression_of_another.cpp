// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator reads the operand of another one.
// expect: fault::operand_of_another_operator, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<0>, .*expects<0>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto twice = compute("op", [](operand x) {
  var i;
  scalar other = x(i);
#ifndef AGO_POSITIVE
  recorder alien;
  other = alien.number(1) == 0 ? scalar(&alien, 0) : other;
#endif
  return result(i) = x(i) * other;
});
inline constexpr definition made = twice(extents(3));
static_assert(check<made>::ok);
