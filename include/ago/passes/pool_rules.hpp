// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about windows: padding of the image as padding of the window, and a maximum of maxima.
#pragma once

#include <ago/passes/rewriter.hpp>

namespace ago::passes {

constexpr void add_pads(window& to, window const& more) {
  to.pad_top += more.pad_top, to.pad_left += more.pad_left;
  to.pad_bottom += more.pad_bottom, to.pad_right += more.pad_right;
}

constexpr bool pad_of_pad(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::pad || w[u].alpha != w[v].alpha) return false;
  add_pads(w[v].win, w[u].win);
  w[v].pad_channels += w[u].pad_channels;
  w.read(v, w.operand(u));
  return true;
}

/// Are the pads valid for a pooling layer on an image of shape `in`? They are at most half of the window, and each
/// window contains a pixel.
constexpr bool may_pool(window const& w, shape const& in, shape const& out) {
  bool const narrow = w.pad_top <= w.kernel_h / 2 && w.pad_bottom <= w.kernel_h / 2 && w.pad_left <= w.kernel_w / 2 &&
                      w.pad_right <= w.kernel_w / 2;
  return narrow && w.dilation_h == 1 && w.dilation_w == 1 && (out.h - 1) * w.stride_h - w.pad_top < in.h &&
         (out.w - 1) * w.stride_w - w.pad_left < in.w;
}

/// v: conv2d, depthwise, max_pool or avg_pool. Zeros around the image add nothing to a sum, count in a mean, and do not
/// change a maximum of values that are not negative.
constexpr bool pad_into_window(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::pad || w[u].alpha != 0) return false;
  node& n = w[v];
  shape const& in = w.shape_of(w.operand(u));
  if (in.c != w[u].out.c) return false;
  window joined = n.win;
  add_pads(joined, w[u].win);
  if (pools_windows(n.kind) && !may_pool(joined, in, n.out)) return false;
  if (n.kind == op::max_pool && !w.bounds[w.operand(u)].positive()) return false;
  if (n.kind == op::avg_pool) {
    bool const padded = n.win.pad_top + n.win.pad_left + n.win.pad_bottom + n.win.pad_right > 0;
    if (padded && !n.count_pads) return false;  // only some of the pads would count
    n.count_pads = true;
  }
  n.win = joined;
  w.read(v, w.operand(u));
  return true;
}

/// Is each pixel of an image of shape `in` in some window?
constexpr bool covers(window const& w, shape const& in, shape const& out) {
  return w.dilation_h == 1 && w.dilation_w == 1 && w.stride_h <= w.kernel_h && w.stride_w <= w.kernel_w &&
         (out.h - 1) * w.stride_h - w.pad_top + w.kernel_h >= in.h &&
         (out.w - 1) * w.stride_w - w.pad_left + w.kernel_w >= in.w;
}

/// v: a global_max_pool.
constexpr bool global_of_max_pool(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::max_pool || !w.uses.is_private(u)) return false;
  if (!covers(w[u].win, w.shape_of(w.operand(u)), w[u].out)) return false;
  w.read(v, w.operand(u));
  return true;
}

}  // namespace ago::passes
