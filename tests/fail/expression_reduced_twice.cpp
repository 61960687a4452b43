// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variable of the result is folded.
// expect: fault::variable_reduced_twice, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<15>, .*expects<1>, .*gets<2>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto softmax = compute("op", [](operand x) {
  var i, k;
#ifdef AGO_POSITIVE
  return result(i) = exp(x(i)) / sum(k)(exp(x(k)));
#else
  return result(i) = exp(x(i)) / sum(i)(exp(x(i)));  // here
#endif
});
inline constexpr definition made = softmax(extents(3));
static_assert(check<made>::ok);
