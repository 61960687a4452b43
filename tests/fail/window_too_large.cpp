// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image that has become smaller than the window.
// misfit: window_exceeds_input avg_pool 2 7 6
// expect: ago: the window \(expects, dilation included\) is larger than the image with its pads \(gets\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int size = 224;
#else
constexpr int size = 192;
#endif

inline constexpr auto net = input{.h = size, .w = size, .c = 3}
    | conv2d{.out = 8, .kernel = 3, .stride = 32, .pad = 1}
    | avg_pool{7};  // here
static_assert(lowering::check<net>::ok);
