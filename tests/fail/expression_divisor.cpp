// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index is divided by 0.
// expect: fault::divisor_must_be_positive, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<17>, .*expects<1>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int scale = 2;
#else
constexpr int scale = 0;
#endif
inline constexpr auto repeat = compute("op", [](operand x) {
  var i;
  return result(i) = x(i / scale);  // here
});
inline constexpr definition made = repeat(extents(3));
static_assert(check<made>::ok);
