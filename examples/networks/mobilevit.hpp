// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileViT-S (Mehta and Rastegari, ICLR 2022). Layers are named where PyTorch's modules declare their parameters in
// another order.
#pragma once

#include <ago/network/network.hpp>

namespace networks {

using namespace ago;

namespace vit {

constexpr auto conv_bn_silu(conv2d conv) { return conv | batch_norm{} | silu{}; }

/// Expand, depthwise, project without an activation; add the input if shapes allow.
constexpr auto inverted_residual(int out, int stride) {
  return [=](tensor x) {
    int const wide = 4 * x.channels();
    tensor const y = x | pointwise{wide} | batch_norm{} | silu{} | depthwise{.kernel = 3, .stride = stride, .pad = 1} |
                     batch_norm{} | silu{} | pointwise{out} | batch_norm{};
    return stride == 1 && out == x.channels() ? x + y : y;
  };
}

// [encoder]
/// A transformer layer. A pixel attends to the pixels at the same position in all 2x2 patches; tokens are not moved.
constexpr auto encoder(int wide) {
  return [=](tensor x) {
    int const channels = x.channels();
    x = x + (x | layer_norm{} | linear{3 * channels} | attention{.heads = 4, .patch = 2} | linear{channels});
    return x + (x | named("norm2", layer_norm{}) | linear{wide} | silu{} | linear{channels});
  };
}
// [/encoder]

/// Local features by convolutions, global ones by attention. An image of odd extents is resized to fit 2x2 patches.
constexpr auto block(int channels, int layers) {
  return [=](tensor x) {
    int const out = x.channels(), height = x.height(), width = x.width();
    bool const odd = height % 2 || width % 2;
    tensor y = x | conv_bn_silu({.out = out, .kernel = 3, .pad = 1}) | pointwise{channels};
    if (odd) y = y | resize_bilinear{height + height % 2, width + width % 2};
    y = y | named("encoders", repeat{layers, encoder(2 * channels)}) | layer_norm{};
    if (odd) y = y | resize_bilinear{height, width};
    y = y | pointwise{out} | batch_norm{} | silu{};
    return concat(x, y) | conv_bn_silu({.out = out, .kernel = 3, .pad = 1});
  };
}

}  // namespace vit

/// For square RGB images of `Size` pixels a side; 1000 logits.
template <int Size>
inline constexpr auto mobilevit_s =
    input{.h = Size, .w = Size, .c = 3} | vit::conv_bn_silu({.out = 16, .kernel = 3, .stride = 2, .pad = 1}) |
    vit::inverted_residual(32, 1) | vit::inverted_residual(64, 2) | repeat{2, vit::inverted_residual(64, 1)} |
    vit::inverted_residual(96, 2) | named("features.6", vit::block(144, 2)) | vit::inverted_residual(128, 2) |
    named("features.8", vit::block(192, 4)) | vit::inverted_residual(160, 2) |
    named("features.10", vit::block(240, 3)) | vit::conv_bn_silu({.out = 640, .kernel = 1}) | global_avg_pool{} |
    linear{1000};

}  // namespace networks
