// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ShuffleNet-V2 x1.0 (Ma et al., ECCV 2018, figure 3), parameters in the order of torchvision's shufflenet_v2_x1_0.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace shuffle {

/// Pointwise, depthwise, pointwise.
constexpr auto branch(int out, int stride) {
  return pointwise{out} | batch_norm{} | relu{} | depthwise{.kernel = 3, .stride = stride, .pad = 1} | batch_norm{} |
         pointwise{out} | batch_norm{} | relu{};
}

// [unit]
/// Half of the channels pass unchanged, the other half goes through the branch; then all are shuffled.
inline constexpr auto unit = [](tensor x) {
  auto const [left, right] = chunk<2>(x);
  return concat(left, right | branch(right.channels(), 1)) | channel_shuffle{2};
};
// [/unit]

/// Halves the image; `out` channels.
constexpr auto down(int out) {
  return concat(
             depthwise{.kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | pointwise{out / 2} | batch_norm{} | relu{},
             branch(out / 2, 2)) |
         channel_shuffle{2};
}

constexpr auto stage(int out, int units) { return down(out) | repeat{units - 1, unit}; }

}  // namespace shuffle

/// For square RGB images of `Size` pixels a side; 1000 logits.
template <int Size>
inline constexpr auto shufflenet_v2 =
    input{.h = Size, .w = Size, .c = 3} | conv2d{.out = 24, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} |
    relu{} | max_pool{.kernel = 3, .stride = 2, .pad = 1} | shuffle::stage(116, 4) | shuffle::stage(232, 8) |
    shuffle::stage(464, 4) | pointwise{1024} | batch_norm{} | relu{} | global_avg_pool{} | linear{1000};

}  // namespace networks
