// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the user's, which has no index expression, is between parameters and loss.
// expect: fault::has_no_gradient, .*op::map
// expect: source_line<16>
#include <ago/training.hpp>

using namespace ago;

constexpr auto doubled = [](auto x) { return x + x; };
#ifdef AGO_POSITIVE
constexpr auto middle = relu{};
#else
constexpr auto middle = map{doubled, "doubled", 0, 0, 16};
#endif
inline constexpr auto net = input{.c = 4} | linear{3} | middle | linear{2};

static trainer<net> t(1);
float trained(std::span<float const, 4> x, std::span<int const, 1> label) { return t.step(x, label); }
