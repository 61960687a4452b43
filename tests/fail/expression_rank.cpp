// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix is read with one index.
// expect: fault::rank_differs, .*name_is<'o', 'p'>, .*operand_number<0>, .*dimension<-1>
// expect: source_line<15>, .*expects<2>, .*gets<1>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto sum_of = compute("op", [](operand x) {
  var i, j;
#ifdef AGO_POSITIVE
  return result(i) = sum(j)(x(i, j));
#else
  return result(i) = x(i);  // here
#endif
});
inline constexpr definition made = sum_of(extents(2, 3));
static_assert(check<made>::ok);
