// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extents of the results of window operators.
#pragma once

#include <ago/ir/graph.hpp>

#include <cmath>
#include <stdexcept>
#include <string>

namespace reference::detail {

inline void check(bool holds, ago::ir::node const& v, char const* what) {
  if (!holds) throw std::logic_error(std::string("reference: ") + name_of(v.kind) + ": " + what);
}

/// Output extent of a window that slides along `in` pixels.
inline int windows(int in, int pad_before, int pad_after, int span, int stride) {
  return int(std::floor(double(in + pad_before + pad_after - span) / stride)) + 1;
}
/// Likewise, rounded up: PyTorch's ceil_mode, in which a window must start inside the image or the padding before it.
inline int windows_rounded_up(int in, int pad_before, int pad_after, int span, int stride) {
  int const count = int(std::ceil(double(in + pad_before + pad_after - span) / stride)) + 1;
  return (count - 1) * stride < in + pad_before ? count : count - 1;
}

/// Whether the extents of `n` are those of its window over `in`.
inline void check_windows(ago::ir::node const& n, ago::shape in, bool may_round_up) {
  ago::ir::window const& w = n.win;
  int const h = windows(in.h, w.pad_top, w.pad_bottom, w.span_h(), w.stride_h);
  int const x = windows(in.w, w.pad_left, w.pad_right, w.span_w(), w.stride_w);
  int const h_up = windows_rounded_up(in.h, w.pad_top, w.pad_bottom, w.span_h(), w.stride_h);
  int const x_up = windows_rounded_up(in.w, w.pad_left, w.pad_right, w.span_w(), w.stride_w);
  bool const floor = n.out.h == h && n.out.w == x;
  check(floor || (may_round_up && n.out.h == h_up && n.out.w == x_up), n, "extents");
  check(in.n == n.out.n, n, "images");
}

}  // namespace reference::detail
