// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sequence of layers without an input.
// expect: layer_fits<ago::ir::fault::not_a_network
// expect: ago: this is not a network; write one as
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.c = 3} | linear{3} | relu{};
#else
inline constexpr auto net = linear{3} | relu{};
#endif
static_assert(lowering::check<net>::ok);
