// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling layers.
#pragma once

#include <ago/layers/windowing.hpp>

namespace ago {

/// Maximum of each window, without the padding. `ceil` is PyTorch's ceil_mode.
struct max_pool {
  extent2 kernel = 2;
  tracing::optional_extent2 stride{};  ///< that of the kernel, unless given
  padding pad = 0;
  extent2 dilation = 1;
  bool ceil = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::max_pool, line, x);
    return r.append(tracing::windowed(r, op::max_pool, x.dims(), kernel, stride.value_or(kernel), pad, dilation,
                                      {.pooling = true, .ceil = ceil}),
                    x);
  }
};

/// Mean of each window. With `count_pads`, padding counts in the divisor, as by default in PyTorch (count_include_pad).
struct avg_pool {
  extent2 kernel = 2;
  tracing::optional_extent2 stride{};  ///< that of the kernel, unless given
  padding pad = 0;
  extent2 dilation = 1;
  bool ceil = false;
  bool count_pads = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::avg_pool, line, x);
    ir::node n = tracing::windowed(r, op::avg_pool, x.dims(), kernel, stride.value_or(kernel), pad, dilation,
                                   {.pooling = true, .ceil = ceil});
    n.count_pads = count_pads;
    return r.append(n, x);
  }
};

namespace tracing {
/// One value per image and channel.
template <op Kind>
struct global_pool {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    return recording(Kind, line, x).append(ir::node{.kind = Kind, .out = {x.images(), 1, 1, x.channels()}}, x);
  }
};
}  // namespace tracing

/// Mean over the image: {n, h, w, c} -> {n, 1, 1, c}.
using global_avg_pool = tracing::global_pool<op::global_avg_pool>;
/// Maximum over the image: {n, h, w, c} -> {n, 1, 1, c}.
using global_max_pool = tracing::global_pool<op::global_max_pool>;

}  // namespace ago
