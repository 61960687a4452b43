// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training step cannot do with so little memory, even if values are computed again. The least is told, and suffices.
// expect: memory_suffices<100, [1-9]\d+
// expect: does not fit into training::activation_bytes
#include <ago/training.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 4, .w = 4} | conv2d{.out = 8, .kernel = 3, .pad = 1} | batch_norm{} | relu{} |
                            depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu{} | global_avg_pool{} | linear{2};

#ifdef AGO_POSITIVE
using step = learning::training_step<net, cross_entropy, training{.batch = 4, .activation_bytes = 100}>;
constexpr training how{.batch = 4, .activation_bytes = 4 * std::size_t(step::limited::arena_floats)};
static_assert(step::limited::operators > 0);
#else
constexpr training how{.batch = 4, .activation_bytes = 100};
#endif
static trainer<net, cross_entropy, sgd, how> t(1);
float trained(std::span<float const, 64> x, std::span<int const, 4> labels) { return t.step(x, labels); }
