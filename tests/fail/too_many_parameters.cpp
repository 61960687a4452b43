// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More parameters than fit an int.
// misfit: too_many_elements linear 1 2147483647 2147483647
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int out = 20'000;
#else
constexpr int out = 2'000'000'000;
#endif

inline constexpr auto net = input{.c = 100'000} | linear{out};  // here
static_assert(lowering::check<net>::ok);
