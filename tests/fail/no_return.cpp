// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block without a return statement.
// expect: ago: what follows \| is not a layer; a layer is callable with one tensor and returns a tensor
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr auto block = [](tensor x) { return x | relu{}; };
#else
constexpr auto block = [](tensor x) { x | relu{}; };
#endif
inline constexpr auto net = input{.c = 3} | linear{3} | block;
static_assert(lowering::check<net>::ok);
