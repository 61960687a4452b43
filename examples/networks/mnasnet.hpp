// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MnasNet-1.0 (Tan et al., CVPR 2019, figure 7), parameters in the order of torchvision's mnasnet1_0.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace mnas {

/// Expand, depthwise, project without an activation; add the input if shapes allow.
constexpr auto inverted_residual(int kernel, int expand, int out, int stride) {
  return [=](tensor x) {
    tensor const y = x | pointwise{expand * x.channels()} | batch_norm{} | relu{} |
                     depthwise{.kernel = kernel, .stride = stride, .pad = kernel / 2} | batch_norm{} | relu{} |
                     pointwise{out} | batch_norm{};
    return stride == 1 && out == x.channels() ? x + y : y;
  };
}

inline constexpr auto stages = [](tensor x) {
  struct {
    int kernel, expand, out, count, stride;
  } constexpr table[] = {{3, 3, 24, 3, 2}, {5, 3, 40, 3, 2},  {5, 6, 80, 3, 2},
                         {3, 6, 96, 2, 1}, {5, 6, 192, 4, 2}, {3, 6, 320, 1, 1}};
  for (auto [kernel, expand, out, count, stride] : table)
    for (int i = 0; i < count; ++i) x = x | inverted_residual(kernel, expand, out, i == 0 ? stride : 1);
  return x;
};

}  // namespace mnas

/// For square RGB images of `Size` pixels a side; 1000 logits.
template <int Size>
inline constexpr auto mnasnet =
    input{.h = Size, .w = Size, .c = 3} | conv2d{.out = 32, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} |
    relu{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu{} | pointwise{16} | batch_norm{} | mnas::stages |
    pointwise{1280} | batch_norm{} | relu{} | global_avg_pool{} | linear{1000};

}  // namespace networks
