// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No parameter has a name that is to be trained.
// expect: no parameter of the network matches training::train
#include <ago/training.hpp>

#ifdef AGO_POSITIVE
constexpr ago::training how{.train = "head.*"};
#else
constexpr ago::training how{.train = "tail.*"};
#endif
inline constexpr auto net = ago::input{.c = 4} | ago::named("head", ago::linear{2});
static ago::trainer<net, ago::cross_entropy, ago::sgd, how> t(1);
float trained(std::span<float const, 4> x, std::span<int const, 1> label) { return t.step(x, label); }
