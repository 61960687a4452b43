// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A diagonal is written, which would leave elements undefined.
// expect: fault::variable_listed_twice, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<1>
// expect: source_line<15>, .*expects<1>, .*gets<2>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto diagonal = compute("op", [](operand x) {
  var i, j{x.extent(0)};
#ifdef AGO_POSITIVE
  return result(i, j) = select(i == j, x(i), 0);
#else
  return result(i, i) = x(i);  // here
#endif
});
inline constexpr definition made = diagonal(extents(3));
static_assert(check<made>::ok);
