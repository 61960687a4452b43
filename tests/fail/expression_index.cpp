// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quotient of a sum of quotients.
// expect: fault::index_too_complex, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<15>, .*expects<6>, .*gets<7>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto shuffle = compute("op", [](operand x) {
  var i;
#ifdef AGO_POSITIVE
  return result(i) = x(i / 2 / 3);
#else
  return result(i) = x((i / 2 + i % 2) / 3);  // here
#endif
});
inline constexpr definition made = shuffle(extents(3));
static_assert(check<made>::ok);
