// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer after several outputs.
// expect: ago: only a network with one output can be extended
#include <ago/network/check.hpp>

using namespace ago;

inline constexpr auto two = input{.c = 3} | [](tensor x) { return outputs(x | relu{}, x | sigmoid{}); };
#ifdef AGO_POSITIVE
inline constexpr auto net = two;
#else
inline constexpr auto net = two | linear{3};
#endif
static_assert(lowering::check<net>::ok);
