// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number added to a tensor.
// expect: ago: \+ adds two tensors; for a number use affine\{1, number\}
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr auto block = [](tensor x) { return x + (x | relu{}); };
#else
constexpr auto block = [](tensor x) { return x + 1.f; };
#endif
inline constexpr auto net = input{.c = 3} | block;
static_assert(lowering::check<net>::ok);
