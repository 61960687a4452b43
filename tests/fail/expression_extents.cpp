// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The depths of two matrices differ.
// expect: fault::extents_differ, .*name_is<'o', 'p'>, .*operand_number<1>, .*dimension<0>
// expect: source_line<17>, .*expects<3>, .*gets<4>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int depth = 3;
#else
constexpr int depth = 4;
#endif
inline constexpr auto product_of = compute("op", [](operand a, operand b) {
  var i, j, k;
  return result(i, j) = sum(k)(a(i, k) * b(k, j));  // here
});
inline constexpr definition made = product_of(extents(2, 3), extents(depth, 5));
static_assert(check<made>::ok);
