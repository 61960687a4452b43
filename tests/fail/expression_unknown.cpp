// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many outputs there are follows from nothing.
// expect: fault::extent_unknown, .*name_is<'o', 'p'>, .*operand_number<1>, .*dimension<0>
// expect: source_line<17>, .*expects<1>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto linear = compute("op", [](operand x, weights parameter) {
  operand const weight = parameter("weight");
#ifdef AGO_POSITIVE
  var i, k{16}, c;
#else
  var i, k, c;
#endif
  return result(i, k) = sum(c)(x(i, c) * weight(k, c));  // here
});
inline constexpr definition made = linear(extents(2, 3));
static_assert(check<made>::ok);
