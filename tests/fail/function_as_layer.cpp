// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the C library after |, instead of the layer, which has another name.
// expect: ago: what follows \| is a function of the C library; the layers are hyperbolic_tangent{}, exponential{},
// flags: -DMISTAKE=1
// flags: -DMISTAKE=2
// flags: -DMISTAKE=3
// flags: -DMISTAKE=4
// flags: -DMISTAKE=5
// flags: -DMISTAKE=6
// flags: -DMISTAKE=7
#include <ago/network/check.hpp>

#include <cmath>
#include <complex>
#include <cstdlib>

using namespace ago;

constexpr tensor doubled(tensor x) { return x + x; }
#if MISTAKE == 1
inline constexpr auto net = input{.c = 3} | doubled | tanh{};
#elif MISTAKE == 2
inline constexpr auto net = input{.c = 3} | doubled | tanh;
#elif MISTAKE == 3
inline constexpr auto net = input{.c = 3} | doubled | std::tanh;
#elif MISTAKE == 4
inline constexpr auto net = input{.c = 3} | doubled | std::abs;
#elif MISTAKE == 5
inline constexpr auto net = input{.c = 3} | doubled | abs;
#elif MISTAKE == 6
inline constexpr auto net = input{.c = 3} | doubled | std::pow;
#elif MISTAKE == 7
inline constexpr auto net = input{.c = 3} | doubled | sqrt{};
#else
inline constexpr auto net = input{.c = 3} | doubled | hyperbolic_tangent{};
#endif
static_assert(lowering::check<net>::ok);
