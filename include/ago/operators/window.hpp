// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the arguments of a window to its node: checks them, resolves pads, computes the extents of the result.
#pragma once

#include <ago/operators/extents.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

namespace ago::tracing {

/// Rules for windows that reach beyond the image.
struct window_rules {
  bool pooling{};  ///< every window must contain a pixel, and a pad is at most half of the window, as in PyTorch
  bool ceil{};     ///< pooling: a last window that starts inside the image or its left padding counts, as in PyTorch
};

/// One axis of a window over an image, and of its result.
struct window_axis {
  int kernel, stride, dilation, before, after;
  int out{};
};

/// The window of an axis of rows and one of columns: types with these members.
constexpr ir::window window_of(auto const& rows, auto const& columns) {
  return {.kernel_h = rows.kernel,
          .kernel_w = columns.kernel,
          .stride_h = rows.stride,
          .stride_w = columns.stride,
          .dilation_h = rows.dilation,
          .dilation_w = columns.dilation,
          .pad_top = rows.before,
          .pad_left = columns.before,
          .pad_bottom = rows.after,
          .pad_right = columns.after};
}

/// Does a window of a pooling layer contain only padding? Pads are at most half of the window, so this requires a
/// window that starts before the image and a dilation that steps over it.
constexpr bool misses_the_image(window_axis const& a, int image) {
  if (a.dilation <= image && a.before <= long(a.kernel - 1) * a.dilation) return false;
  for (long start = -long(a.before); start < 0 && (start + a.before) / a.stride < a.out; start += a.stride) {
    long const first_inside = start + (-start + a.dilation - 1) / a.dilation * a.dilation;
    if (first_inside >= image || first_inside > start + long(a.kernel - 1) * a.dilation) return true;
  }
  return false;
}

/// Fills in `out`, and the pads if they are `same`; `image` is the extent of the operand.
constexpr window_axis resolve(recording& r, window_axis a, bool same, int image, window_rules rules) {
  a.kernel = r.positive(a.kernel);
  a.stride = r.positive(a.stride);
  a.dilation = a.kernel == 1 ? (r.positive(a.dilation), 1) : r.positive(a.dilation);
  long const span = long(a.kernel - 1) * a.dilation + 1;
  if (same) {
    long const needed = long((image - 1) / a.stride) * a.stride + span - image;
    a.before = r.fitting(needed > 0 ? needed / 2 : 0);
    a.after = r.fitting(needed > 0 ? needed - needed / 2 : 0);
  }
  a.before = r.not_negative(a.before);
  a.after = r.not_negative(a.after);
  if (rules.pooling && a.before > span / 2) r.complain(ir::fault::pad_exceeds_half_of_window, span / 2, a.before);
  if (rules.pooling && a.after > span / 2) r.complain(ir::fault::pad_exceeds_half_of_window, span / 2, a.after);

  long const padded_image = long(image) + a.before + a.after;
  // With `ceil`, the first window can exceed the image by as much as the last one.
  if (padded_image + (rules.ceil ? a.stride - 1 : 0) < span) {
    r.complain(ir::fault::window_exceeds_input, span, padded_image);
    a.out = 1;
    return a;
  }
  long out = (padded_image - span + (rules.ceil ? a.stride - 1 : 0)) / a.stride + 1;
  if (rules.ceil && (out - 1) * a.stride >= long(image) + a.before) --out;
  a.out = r.fitting(out);
  if (rules.pooling && misses_the_image(a, image)) r.complain(ir::fault::window_misses_the_image, 1, 0);
  return a;
}

/// A node with the window and the result extents for an image of shape `in`; the result has `in`'s channels.
constexpr ir::node windowed(recording& r, op kind, shape in, extent2 kernel, extent2 stride, padding pad,
                            extent2 dilation, window_rules rules = {}) {
  pads const& p = pad.sides;
  window_axis const h = resolve(r, {kernel.h, stride.h, dilation.h, p.top, p.bottom}, pad.is_same, in.h, rules);
  window_axis const w = resolve(r, {kernel.w, stride.w, dilation.w, p.left, p.right}, pad.is_same, in.w, rules);
  ir::node n{.kind = kind, .out = {in.n, h.out, w.out, in.c}};
  n.win = window_of(h, w);
  return n;
}

}  // namespace ago::tracing

namespace ago::described {

/// Indices of the pixels that a window reads.
struct window_pixels {
  affine row, column;
  constexpr window_pixels(window const& w, var& y, var& x, var& p, var& q)
      : row(w.stride_h * y + w.dilation_h * p - w.pad_top), column(w.stride_w * x + w.dilation_w * q - w.pad_left) {}
};
constexpr bool has_pads(window const& w) { return w.pad_top || w.pad_left || w.pad_bottom || w.pad_right; }

}  // namespace ago::described
