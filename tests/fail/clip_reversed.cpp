// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds in the wrong order.
// misfit: bounds_are_reversed clip 1 0 0
// expect: ago: the lower bound of clip exceeds the upper bound
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.c = 3} | clip{-1.f, 6.f};
#else
inline constexpr auto net = input{.c = 3} | clip{6.f, -1.f};  // here
#endif
static_assert(lowering::check<net>::ok);
