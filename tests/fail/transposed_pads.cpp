// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A transposed convolution whose pads remove its whole result.
// misfit: pads_take_all conv2d 1 4 6
// expect: ago: the pads \(gets\) remove everything that this transposed convolution computes \(expects\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int cut = 1;
#else
constexpr int cut = 3;
#endif

inline constexpr auto net = input{.h = 2, .w = 4, .c = 8}
    | conv_transpose{.out = 4, .kernel = 2, .stride = 2, .pad = cut};  // here
static_assert(lowering::check<net>::ok);
