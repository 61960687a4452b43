// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small networks to tune.
#pragma once

#include <ago/network/network.hpp>

namespace tune_test {

using namespace ago;
using namespace ago::ir;

/// A chain of three that can be partitioned in every way, a residual, and two convolutions for Winograd.
inline constexpr auto chains = input{.h = 13, .w = 11, .c = 5} | [](tensor x) {
  tensor y = x | conv2d{.out = 33, .kernel = 3, .pad = 1} | batch_norm{} | relu6{};
  y = y + (y | pointwise{70} | relu6{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | hard_swish{} |
           pointwise{33} | batch_norm{});
  return y | conv2d{.out = 20, .kernel = 3, .stride = 2} | silu{} | global_avg_pool{} | linear{7};
};

/// Values in several segments, two inputs, two outputs.
inline constexpr auto branches = trace(
    [](tensor a, tensor b) {
      tensor const x = (a | pointwise{24} | relu{}) + b;
      tensor const y = concat(a | depthwise{.kernel = 5, .pad = 2} | pointwise{19}, x);
      return outputs(x | max_pool{.kernel = 2, .stride = 2}, y | pointwise{50} | pointwise{9});
    },
    input{.h = 8, .w = 10, .c = 6}, input{.h = 8, .w = 10, .c = 24});

/// Products of two values, and layers without choices.
inline constexpr auto tokens = input{.w = 12, .c = 32} | layer_norm{} | [](tensor x) {
  tensor const y = x + (x | linear{96} | attention{.heads = 2});
  return y + (y | linear{64} | gelu{} | linear{32});
};

/// A trained value as an operand, and siblings: two operators on one value that horizontal fusion merges.
inline constexpr auto families = input{.h = 6, .w = 7, .c = 12} | [](tensor x) {
  tensor const y = x + (x | constant{.h = 6, .w = 7, .c = 12});
  return concat(y | pointwise{24} | relu{}, y | pointwise{32} | relu{}) | depthwise{.kernel = 3, .pad = 1} |
         pointwise{9};
};

/// Large enough to be divided for several threads.
inline constexpr auto wide = input{.h = 40, .w = 40, .c = 24} | pointwise{96} | relu6{} |
                             depthwise{.kernel = 3, .pad = 1} | bias{} | conv2d{.out = 32, .kernel = 3, .pad = 1};

/// Equal steps, one of which reads a value in several segments: the first half of the channels, shuffled.
inline constexpr auto shuffled = input{.h = 5, .w = 5, .c = 12} | pointwise{32} | relu{} | [](tensor x) {
  auto const unit = [](tensor y) {
    auto const [kept, changed] = chunk<2>(y);
    return concat(kept, changed | pointwise{16} | relu{} | depthwise{.kernel = 3, .pad = 1} | pointwise{16} | relu{}) |
           channel_shuffle{2};
  };
  return unit(unit(unit(x)));
} | pointwise{16} | relu{};

}  // namespace tune_test
