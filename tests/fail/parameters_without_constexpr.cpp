// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of a network that is not constexpr.
// expect: ago: a network must be a constant, as in: inline constexpr auto net = input
#include <ago/network/network.hpp>
#include <ago/network/parameters.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.c = 3} | linear{3};
#else
auto net = input{.c = 3} | linear{3};
#endif
auto const& rows = parameters<net>;
