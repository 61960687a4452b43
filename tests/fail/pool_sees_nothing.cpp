// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dilated pooling with a window entirely in the padding.
// misfit: window_misses_the_image max_pool 1 1 0
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int size = 3;
#else
constexpr int size = 1;
#endif

inline constexpr auto net = input{.h = size, .w = size, .c = 3}
    | max_pool{.kernel = 2, .stride = 1, .pad = 2, .dilation = 3};  // here
static_assert(lowering::check<net>::ok);
