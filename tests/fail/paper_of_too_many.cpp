// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The paper's own policy on a network that is too large for compilers to evaluate.
// expect: ago: policy::paper takes at most 2,000 operators because of compiler limits; use policy::paper_adjacent
#include <ago/ago.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int depth = 1000;
#else
constexpr int depth = 1001;
#endif
inline constexpr auto pair = [](tensor x) { return x | sigmoid{} | hyperbolic_tangent{}; };
inline constexpr auto net = input{.h = 4, .w = 4, .c = 3} | repeat{depth, pair};
static_assert(program<net, untuned, policy::paper>::subgraphs > 1);
