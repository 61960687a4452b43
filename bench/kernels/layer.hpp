// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One layer of a published network as a value, and as an ago network of its own.
#pragma once

#include <ago/network/network.hpp>

namespace bench {

/// An operator that has its own kernel, with bias and activation. Usable as a template argument.
struct layer_shape {
  ago::op kind{};  ///< conv2d, depthwise, pointwise, linear, max_pool, global_avg_pool
  ago::shape in{};
  int out = 0;  ///< channels
  ago::ir::window win{};
  bool ceil = false;  ///< max_pool
  ago::op activation = ago::op::identity;

  constexpr bool operator==(layer_shape const&) const = default;
  constexpr bool has_weights() const { return ago::ir::has_weights(kind); }
};

/// The layer as the body of a network: one type for all layers, so that a hundred of them compile quickly.
/// Convolutions have a bias, as if a following batch norm had been folded into it.
struct layer_body {
  layer_shape what;

  constexpr ago::tensor operator()(ago::tensor x) const {
    ago::ir::window const& w = what.win;
    ago::extent2 const kernel{w.kernel_h, w.kernel_w}, stride{w.stride_h, w.stride_w};
    ago::pads const pad{.top = w.pad_top, .left = w.pad_left, .bottom = w.pad_bottom, .right = w.pad_right};
    switch (what.kind) {
      case ago::op::linear: return activate(ago::linear{what.out}(x));
      case ago::op::max_pool:
        return ago::max_pool{.kernel = kernel, .stride = {stride.h, stride.w}, .pad = pad, .ceil = what.ceil}(x);
      case ago::op::global_avg_pool: return ago::global_avg_pool{}(x);
      default: break;
    }
    int const groups = what.kind == ago::op::depthwise ? what.in.c : 1;
    return activate(ago::conv2d{
        .out = what.out, .kernel = kernel, .stride = stride, .pad = pad, .groups = groups, .bias = true}(x));
  }

 private:
  constexpr ago::tensor activate(ago::tensor x) const {
    switch (what.activation) {
      case ago::op::relu: return ago::relu{}(x);
      case ago::op::relu6: return ago::relu6{}(x);
      case ago::op::silu: return ago::silu{}(x);
      case ago::op::gelu: return ago::gelu{}(x);
      default: return x;
    }
  }
};

template <layer_shape S>
inline constexpr auto one_layer = ago::input{.n = S.in.n, .h = S.in.h, .w = S.in.w, .c = S.in.c} | layer_body{S};

/// The extent of a window operator's result, rounded up or down.
constexpr int slide(int extent, int kernel, int stride, int pads, bool ceil) {
  int const room = extent + pads - kernel;
  return (ceil ? room + stride - 1 : room) / stride + 1;
}

constexpr ago::shape result_of(layer_shape const& s) {
  if (s.kind == ago::op::global_avg_pool) return {s.in.n, 1, 1, s.in.c};
  ago::ir::window const& w = s.win;
  return {s.in.n, slide(s.in.h, w.kernel_h, w.stride_h, w.pad_top + w.pad_bottom, s.ceil),
          slide(s.in.w, w.kernel_w, w.stride_w, w.pad_left + w.pad_right, s.ceil), s.out};
}

constexpr long multiply_adds(layer_shape const& s) {
  if (!s.has_weights()) return 0;
  int const channels = s.kind == ago::op::depthwise ? 1 : s.in.c;
  return result_of(s).count() * s.win.kernel_h * s.win.kernel_w * channels;
}

}  // namespace bench
