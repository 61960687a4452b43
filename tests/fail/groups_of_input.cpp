// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that do not divide the channels.
// misfit: channels_not_divisible_by_groups conv2d 1 4 30
// expect: ago: the groups \(expects\) must divide the channels of the input \(gets\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int groups = 3;
#else
constexpr int groups = 4;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 30}
    | conv2d{.out = 60, .kernel = 3, .groups = groups};  // here
static_assert(lowering::check<net>::ok);
