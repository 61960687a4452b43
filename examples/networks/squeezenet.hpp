// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SqueezeNet-1.1 (Iandola et al., 2016; the authors' version 1.1), parameters in the order of torchvision's
// squeezenet1_1.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace squeeze {

/// Squeeze to few channels, then half of the outputs by a 1x1 convolution and half by a 3x3 convolution.
constexpr auto fire(int narrow, int wide) {
  return pointwise{.out = narrow, .bias = true} | relu{} |
         concat(pointwise{.out = wide, .bias = true} | relu{},
                conv2d{.out = wide, .kernel = 3, .pad = 1, .bias = true} | relu{});
}

inline constexpr max_pool pool{.kernel = 3, .stride = 2, .ceil = true};

}  // namespace squeeze

/// For square RGB images of `Size` pixels a side; 1000 logits.
template <int Size>
inline constexpr auto squeezenet =
    input{.h = Size, .w = Size, .c = 3} | conv2d{.out = 64, .kernel = 3, .stride = 2, .bias = true} | relu{} |
    squeeze::pool | squeeze::fire(16, 64) | squeeze::fire(16, 64) | squeeze::pool | squeeze::fire(32, 128) |
    squeeze::fire(32, 128) | squeeze::pool | squeeze::fire(48, 192) | squeeze::fire(48, 192) | squeeze::fire(64, 256) |
    squeeze::fire(64, 256) | pointwise{.out = 1000, .bias = true} | relu{} | global_avg_pool{};

}  // namespace networks
