// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytic default schedule of max pooling.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>

namespace ago::kernel {

/// Small windows without dilation become part of the key, so that they are known at compile time. As many results are
/// computed at a time as have all columns of their windows in half of the registers.
constexpr void choose_max_pool(kernel_key& key, step_data const& s) {
  window const& w = s.win;
  bool const small = w.kernel_h <= 3 && w.kernel_w <= 3 && w.stride_h <= 3 && w.stride_w <= 3;
  if (!small || w.dilation_h > 1 || w.dilation_w > 1) return;
  key.kernel_h = w.kernel_h;
  key.kernel_w = w.kernel_w;
  key.stride_h = w.stride_h;
  key.stride_w = w.stride_w;
  int const inside = int(pixels_in_line(structure::convolution, s));
  int const most = (vector_registers(key.target) / 2 - 1 - w.kernel_w) / w.stride_w + 1;
  key.tile.pixels = inside < most ? inside : most;
  key.tile.pixels_left = inside % key.tile.pixels;
}

}  // namespace ago::kernel
