// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads that do not divide the channels.
// misfit: channels_not_divisible_by_groups attention_scores 4 6 128
// expect: ago: the groups \(expects\) must divide the channels of the input \(gets\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int heads = 8;
#else
constexpr int heads = 6;
#endif

inline constexpr auto net = input{.w = 16, .c = 128} | [](tensor x) {
  tensor const q = x | linear{128}, k = x | linear{128}, v = x | linear{128};
  return attention{.heads = heads}(q, k, v);  // here
};
static_assert(lowering::check<net>::ok);
