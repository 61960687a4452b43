// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Something after | that is not a layer.
// expect: ago: what follows \| is not a layer; a layer is callable with one tensor and returns a tensor
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.c = 3} | linear{17};
#else
inline constexpr auto net = input{.c = 3} | relu{} | 17;
#endif
static_assert(lowering::check<net>::ok);
