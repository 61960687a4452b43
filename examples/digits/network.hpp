// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The digits network as an ago expression; train.py defines the same network in PyTorch.
#pragma once

#include <ago/ago.hpp>

namespace digits {

using namespace ago;

/// Depthwise 3x3, then pointwise: about an eighth of the cost of a full convolution.
constexpr auto separable(int out, int stride) {
  return depthwise{.kernel = 3, .stride = stride, .pad = 1} | batch_norm{} | relu6{} | pointwise{out} | batch_norm{} |
         relu6{};
}

/// MobileNet-V2's inverted residual: expand, depthwise, project without an activation, and add the input.
constexpr auto inverted_residual(int channels, int expansion) {
  return residual{pointwise{channels * expansion} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} |
                  batch_norm{} | relu6{} | pointwise{channels} | batch_norm{}};
}

inline constexpr auto network = input{.h = 8, .w = 8, .c = 1} | conv2d{.out = 16, .kernel = 3, .pad = 1} |
                                batch_norm{} | relu6{} | separable(32, 1) | separable(64, 2) |
                                inverted_residual(64, 2) | global_avg_pool{} | linear{10};

}  // namespace digits
