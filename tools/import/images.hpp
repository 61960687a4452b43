// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images and windows, as ONNX describes them.
#pragma once

#include "lowering.hpp"

namespace ago::importer {

/// {n, c, length} or {n, c, h, w} as images, rows, columns, channels.
view as_image(context& c, view const& x);
/// {n, c, ...} as images, all pixels, channels.
view as_pixels(context& c, view const& x);
/// A value of images with the dims of an ONNX tensor.
view image(int value, extents const& dims);
/// {n, c, ...} with one to three axes of pixels as a value of five axes: images, depth, rows, columns, channels.
view as_volume(context& c, view const& x);
/// The result of an operator on such values.
view volume(context& c, int value, extents const& dims);

/// A window in one direction.
struct window_side {
  int kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  int in = 1, out = 1;
  int span() const { return (kernel - 1) * dilation + 1; }
  /// Throws `unsupported` unless all derived ints fit.
  void check() const;
};
struct window_sides {
  window_side h, w;
  ago::pads pads() const { return {h.before, w.before, h.after, w.after}; }
  extent2 kernel() const { return {h.kernel, w.kernel}; }
  extent2 stride() const { return {h.stride, w.stride}; }
  extent2 dilation() const { return {h.dilation, w.dilation}; }
};

/// The windows of a node in each direction of its pixels; arguments as below.
std::vector<window_side> sides_of(node_reader const& n, extents const& in, extents const& out,
                                  std::vector<std::int64_t> const& kernel);
/// The window of a node that maps dims `in` to dims `out`, whose last axes are pixels; `kernel`: its extents.
window_sides window_of(node_reader const& n, extents const& in, extents const& out,
                       std::vector<std::int64_t> const& kernel);

}  // namespace ago::importer
