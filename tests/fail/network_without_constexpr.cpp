// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network that is not constexpr.
// expect: layer_fits<ago::ir::fault::network_is_not_constexpr
// expect: ago: a network must be a constant, as in: inline constexpr auto net = input
#include <ago/ago.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = input{.c = 3} | linear{3};
#else
auto net = input{.c = 3} | linear{3};
#endif

void run(std::span<float const, 12> weights, std::span<float const, 3> in, std::span<float, 3> out) {
  static model<net> classifier{weights};
  classifier(in, out);
}
