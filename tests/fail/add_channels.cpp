// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operands of + have different channels.
// misfit: shapes_differ add 4 16 24
// expect: ago: \+ and other elementwise operators take values of equal shapes
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int channels = 16;
#else
constexpr int channels = 24;
#endif

constexpr auto block = [](tensor x) {
  return x + (x | pointwise{channels} | relu6{});  // here
};
inline constexpr auto net = input{.h = 32, .w = 32, .c = 3} | pointwise{16} | block | global_avg_pool{};
static_assert(lowering::check<net>::ok);
