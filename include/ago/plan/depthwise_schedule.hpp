// Register and cache tile of a depthwise convolution.
#pragma once

#include <ago/plan/schedule.hpp>
#include <ago/plan/step.hpp>

namespace ago {

/// Fills in the tile, the window and the block of a depthwise step; `wish` overrides the analytic default, where the
/// kernel can follow it.
constexpr void choose_depthwise(kernel_key& key, step_data& s, schedule const& wish) {
  window const& w = s.win;
  bool const known = w.dilation_h == 1 && w.dilation_w == 1 && w.kernel_h <= 7 && w.kernel_w <= 7 && w.stride_h <= 2 && w.stride_w <= 2;
  key.kernel_h = known ? w.kernel_h : 0;
  key.kernel_w = known ? w.kernel_w : 0;
  key.stride_h = known ? w.stride_h : 0;
  key.stride_w = known ? w.stride_w : 0;
  key.tile = {7, 2};
  if (wish.pixels > 0) key.tile.pixels = wish.pixels;
  if (wish.vectors > 0) key.tile.vectors = wish.vectors;
  if (!known) key.tile.vectors = 1;
  s.block = wish.block;
}

}  // namespace ago
