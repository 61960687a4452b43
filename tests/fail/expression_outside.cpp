// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A window without padding reaches outside of the image.
// expect: fault::reads_outside, .*name_is<'o', 'p'>, .*operand_number<0>, .*dimension<0>
// expect: source_line<17>, .*expects<8>, .*gets<9>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int count = 6;
#else
constexpr int count = 7;
#endif
inline constexpr auto blur = compute("op", [](operand x) {
  var p{count}, r{3};
  return result(p) = sum(r)(x(p + r));  // here
});
inline constexpr definition made = blur(extents(8));
static_assert(check<made>::ok);
