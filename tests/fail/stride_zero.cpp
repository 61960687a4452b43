// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stride of zero.
// misfit: argument_must_be_positive max_pool 1 1 0
// expect: ago: an argument of this layer must be positive
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int stride = 2;
#else
constexpr int stride = 0;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | max_pool{.kernel = 2, .stride = stride};  // here
static_assert(lowering::check<net>::ok);
