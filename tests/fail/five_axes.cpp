// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution reads a value of five axes.
// expect: fault::takes_four_axes, .*op::conv2d
// expect: source_line<16>, .*expects<4>, .*gets<5>
#include <ago/ago.hpp>
#include <ago/expressions.hpp>

#ifdef AGO_POSITIVE
constexpr ago::view image(8, 8, 4);
#else
constexpr ago::view image(1, 8, 8, 2, 2);
#endif
inline constexpr auto net = ago::trace(
    [](ago::tensor x) {
      return x | image |
             ago::conv2d{.out = 4, .kernel = 3};
    },
    ago::input{1, 8, 8, 4});
static_assert(ago::lowering::check<net>::ok);
