// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions whose rows of the window are short and contiguous: those of images.
#pragma once

#include <ago/plan/step.hpp>

namespace ago {

/// Floats in a row of the window of a convolution if the loops for it are to be compiled for so many
/// (kernel/segment_order.hpp, detail::accumulate_known); otherwise 0.
constexpr int floats_in_window_row(kernel_key const& key, step_data const& s) {
  int const floats = s.win.kernel_w * s.in.c;
  bool const contiguous = s.groups == 1 && s.win.dilation_w == 1 && s.source.pixel_stride == s.in.c;
  bool const by_hand = key.what == structure::convolution && has_lane_fma(key.target);
  bool const few = key.in_order ? floats > 2 && floats <= 9 : floats > 3 && floats <= 9 && floats % 4 < 2;
  return by_hand && contiguous && few ? floats : 0;
}

}  // namespace ago
