// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer after to_nchw.
// misfit: channel_first_value_cannot_be_used linear 2 0 0
// expect: ago: the result of to_nchw can only be an output; no layer reads it
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | linear{10} | to_nchw{};
#else
inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | to_nchw{}
    | linear{10};  // here
#endif
static_assert(lowering::check<net>::ok);
