// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The window is larger than the image.
// expect: fault::extent_must_be_positive, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<17>, .*expects<1>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int kernel = 3;
#else
constexpr int kernel = 9;
#endif
inline constexpr auto blur = compute("op", [](operand x) {
  var p{windows(x.extent(0), kernel)}, r{kernel};
  return result(p) = sum(r)(x(p + r));  // here
});
inline constexpr definition made = blur(extents(8));
static_assert(check<made>::ok);
