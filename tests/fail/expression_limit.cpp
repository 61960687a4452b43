// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body has more accesses than fit.
// expect: fault::too_large, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<19>, .*expects<12>, .*gets<13>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int taps = 12;
#else
constexpr int taps = 13;
#endif
inline constexpr auto stencil = compute("op", [](operand x) {
  var i;
  scalar all = x(i);
  for (int k = 1; k < taps; ++k) all = all + x(i + k);
  return result(i) = all;  // here
});
inline constexpr definition made = stencil(extents(20));
static_assert(check<made>::ok);
