// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling over windows and over whole images.
#pragma once

#include <algorithm>
#include <limits>

#include "value.hpp"
#include "windows.hpp"

namespace reference::detail {

struct position {
  int image, y, x, c;
};

inline void pool_window(ago::ir::node const& n, ago::ir::window const& w, bool maximum, value const& in, position at,
                        double& exact, double& error) {
  double sum = 0, size = 0, error_sum = 0, largest = -std::numeric_limits<double>::infinity(), largest_error = 0;
  int inside = 0, inside_or_pad = 0;
  for (int ky = 0; ky < w.kernel_h; ++ky)
    for (int kx = 0; kx < w.kernel_w; ++kx) {
      int const y = at.y * w.stride_h - w.pad_top + ky * w.dilation_h;
      int const x = at.x * w.stride_w - w.pad_left + kx * w.dilation_w;
      if (y >= in.extents.h + w.pad_bottom || x >= in.extents.w + w.pad_right) continue;
      ++inside_or_pad;
      if (y < 0 || y >= in.extents.h || x < 0 || x >= in.extents.w) continue;
      ++inside;
      auto const from = std::size_t(in.index(at.image, y, x, at.c));
      sum += in.exact[from];
      size += std::abs(in.exact[from]);
      error_sum += in.error[from];
      largest = std::max(largest, in.exact[from]);
      largest_error = std::max(largest_error, in.error[from]);
    }
  check(inside > 0, n, "a window without a pixel");
  double const divisor = n.count_pads ? inside_or_pad : inside;
  exact = maximum ? largest : sum / divisor;
  error = maximum ? largest_error : (error_sum + roundoff * size) / divisor;
}

inline void pool(ago::ir::node const& n, value const& in, value& out) {
  bool const global = n.kind == ago::op::global_max_pool || n.kind == ago::op::global_avg_pool;
  bool const maximum = n.kind == ago::op::global_max_pool || n.kind == ago::op::max_pool;
  ago::ir::window w = n.win;
  if (global) {
    w = {.kernel_h = in.extents.h, .kernel_w = in.extents.w};
    check(n.out == ago::shape{in.extents.n, 1, 1, in.extents.c}, n, "shape");
  } else {
    check_windows(n, in.extents, true);
    check(n.out.c == in.extents.c, n, "channels");
  }
  for (int image = 0; image < n.out.n; ++image)
    for (int y = 0; y < n.out.h; ++y)
      for (int x = 0; x < n.out.w; ++x)
        for (int c = 0; c < n.out.c; ++c) {
          auto const to = std::size_t(out.index(image, y, x, c));
          pool_window(n, w, maximum, in, {image, y, x, c}, out.exact[to], out.error[to]);
        }
}

}  // namespace reference::detail
