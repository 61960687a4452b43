// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor subtracted from a number.
// expect: ago: - subtracts two tensors; for a number use affine\{1, -number\}
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr auto block = [](tensor x) { return x - (x | relu{}); };
#else
constexpr auto block = [](tensor x) { return 1.f - x; };
#endif
inline constexpr auto net = input{.c = 3} | block;
static_assert(lowering::check<net>::ok);
