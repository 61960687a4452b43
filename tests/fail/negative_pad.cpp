// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A negative pad.
// misfit: argument_must_not_be_negative depthwise 1 0 -1
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int left = 1;
#else
constexpr int left = -1;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3}
    | depthwise{.kernel = 3, .pad = pads{.left = left}};  // here
static_assert(lowering::check<net>::ok);
