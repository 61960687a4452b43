// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An image that patches do not divide.
// misfit: patch_must_divide_image attention_scores 4 2 7
// expect: ago: a patch \(expects\) must divide the image \(gets\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int height = 8;
#else
constexpr int height = 7;
#endif

inline constexpr auto net = input{.h = height, .w = 8, .c = 96}
    | attention{.heads = 4, .patch = 2};  // here
static_assert(lowering::check<net>::ok);
