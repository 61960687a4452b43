// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that do not divide the output channels.
// misfit: outputs_not_divisible_by_groups conv2d 1 3 64
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int out = 63;
#else
constexpr int out = 64;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 30} | conv2d{.out = out, .groups = 3};  // here
static_assert(lowering::check<net>::ok);
