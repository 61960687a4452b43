// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A residual whose body has a stride.
// misfit: extents_differ add 2 32 16
// expect: ago: the values differ in height, width, or number of images
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int stride = 1;
#else
constexpr int stride = 2;
#endif

// [network]
inline constexpr auto net = input{.h = 32, .w = 32, .c = 8}
    | residual{depthwise{.kernel = 3, .stride = stride, .pad = 1}}  // here
    | relu{};
// [/network]
static_assert(lowering::check<net>::ok);
