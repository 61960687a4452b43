// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// concat of a tensor and a layer.
// expect: ago: concat joins either tensors or layers, and nothing else
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr auto block = [](tensor x) { return concat(x, x | linear{3}); };
#else
constexpr auto block = [](tensor x) { return concat(x, linear{3}); };
#endif
inline constexpr auto net = input{.c = 3} | block;
static_assert(lowering::check<net>::ok);
