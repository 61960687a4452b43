// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 (Sandler et al., CVPR 2018, table 2), parameters in the order of torchvision's mobilenet_v2.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace mobilenet {

constexpr auto conv_bn_relu6(conv2d conv) { return conv | batch_norm{} | relu6{}; }

/// Expand, depthwise, project without an activation; add the input if shapes allow.
constexpr auto inverted_residual(int expand, int out, int stride) {
  return [=](tensor x) {
    tensor y = expand == 1 ? x : x | pointwise{expand * x.channels()} | batch_norm{} | relu6{};
    y = y | depthwise{.kernel = 3, .stride = stride, .pad = 1} | batch_norm{} | relu6{} | pointwise{out} | batch_norm{};
    return stride == 1 && out == x.channels() ? x + y : y;
  };
}

inline constexpr auto stages = [](tensor x) {
  struct {
    int expand, out, count, stride;
  } constexpr table[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                         {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (auto [expand, out, count, stride] : table)
    for (int i = 0; i < count; ++i) x = x | inverted_residual(expand, out, i == 0 ? stride : 1);
  return x;
};

}  // namespace mobilenet

/// For square RGB images of `Size` pixels a side; 1000 logits.
template <int Size>
inline constexpr auto mobilenet_v2 =
    input{.h = Size, .w = Size, .c = 3} | mobilenet::conv_bn_relu6({.out = 32, .kernel = 3, .stride = 2, .pad = 1}) |
    mobilenet::stages | mobilenet::conv_bn_relu6({.out = 1280}) | global_avg_pool{} | linear{1000};

}  // namespace networks
