// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions whose rows of the window are short and contiguous: those of images.
#pragma once

#include <ago/plan/packing.hpp>
#include <ago/plan/schedule.hpp>

namespace ago {

/// Floats in a row of the window of a convolution if the loops for it are to be compiled for so many
/// (kernel/segment_order.hpp); otherwise 0.
constexpr int floats_in_window_row(kernel_key const& key, step_data const& s) {
  int const floats = s.win.kernel_w * s.in.c;
  bool const contiguous = s.groups == 1 && s.win.dilation_w == 1 && s.source.pixel_stride == s.in.c;
  bool const in_order = key.what == structure::convolution && key.in_order;
  return in_order && contiguous && floats > 2 && floats <= 9 ? floats : 0;
}

/// The register tile for these loops, if `wish` has none: of those that leave registers for the loads on their way, the
/// largest that divides the channels.
constexpr schedule with_window_row_tile(kernel_key const& key, step_data const& s, schedule wish) {
  if (floats_in_window_row(key, s) == 0 || wish.pixels > 0 || wish.vectors > 0) return wish;
  int const vectors = padded(s.out.c, key.target) / lanes(key.target);
  bool const threes = vectors % 3 == 0 && vectors % 4 != 0;
  if (vectors < 3 || s.out.w < 8) return wish;
  wish.pixels = threes ? 6 : 5;
  wish.vectors = threes ? 3 : 4;
  return wish;
}

}  // namespace ago
