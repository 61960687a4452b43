// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More rows, columns and channels.
#pragma once

#include <ago/operators/expand.hpp>
#include <ago/operators/extents.hpp>

#include <concepts>
#include <cstdint>

namespace ago {

/// What fills a border: a constant; the value itself, mirrored without its edge; its edge; the value repeated.
enum class pad_mode : std::uint8_t { constant, reflect, edge, wrap };

namespace tracing {

/// Elements begin, begin + step, ... along an axis.
constexpr tensor append_run(recording& r, tensor x, int axis, int begin, int count, int step) {
  ir::node n{.kind = op::slice, .out = x.dims(), .axis = axis, .begin = begin, .step = count == 1 ? 1 : step};
  extent_along(n.out, axis) = count;
  return r.append(n, x);
}

/// The border of `count` elements before x along an axis, or after it.
constexpr tensor append_border(recording& r, tensor x, pad_mode mode, int axis, int count, bool behind) {
  int const extent = extent_along(x.dims(), axis);
  if (mode == pad_mode::wrap) return append_run(r, x, axis, behind ? 0 : extent - count, count, 1);
  if (mode == pad_mode::reflect) return append_run(r, x, axis, behind ? extent - 2 : count, count, -1);
  tensor const edge = append_run(r, x, axis, behind ? extent - 1 : 0, 1, 1);
  shape whole = edge.dims();
  extent_along(whole, axis) = count;
  return append_expand(r, edge, whole);
}

/// x with such borders on both sides; x must have enough elements for them.
constexpr tensor append_borders(recording& r, tensor x, pad_mode mode, int axis, int before, int after) {
  int const extent = extent_along(x.dims(), axis);
  int const most = mode == pad_mode::edge ? int(int_limit) : mode == pad_mode::wrap ? extent : extent - 1;
  if (before > most || after > most) {
    r.complain(ir::fault::slice_exceeds_extent, most, before > most ? before : after);
    return x;
  }
  if (before == 0 && after == 0) return x;
  tensor parts[3];
  int count = 0;
  if (before > 0) parts[count++] = append_border(r, x, mode, axis, before, false);
  parts[count++] = x;
  if (after > 0) parts[count++] = append_border(r, x, mode, axis, after, true);
  ir::node n{.kind = op::concat, .out = x.dims(), .axis = axis};
  extent_along(n.out, axis) = r.fitting(long(extent) + before + after);
  return r.append(n, {parts, count});
}

}  // namespace tracing

/// The image with a border of `value`, or as `mode` specifies; also along the channels.
struct pad {
  padding sides = 0;
  float value = 0;
  pad_mode mode = pad_mode::constant;
  int channels_before = 0, channels_after = 0;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::pad, line, x);
    ir::node n{.kind = op::pad, .out = x.dims(), .alpha = value};
    pads const& p = sides.sides;
    if (sides.is_same) r.complain(ir::fault::argument_must_not_be_negative, 0, -1);
    n.win.pad_top = r.not_negative(p.top);
    n.win.pad_left = r.not_negative(p.left);
    n.win.pad_bottom = r.not_negative(p.bottom);
    n.win.pad_right = r.not_negative(p.right);
    n.pad_channels = r.not_negative(channels_before);
    int const behind = r.not_negative(channels_after);
    if (mode != pad_mode::constant) {
      x = tracing::append_borders(r, x, mode, 1, n.win.pad_top, n.win.pad_bottom);
      x = tracing::append_borders(r, x, mode, 2, n.win.pad_left, n.win.pad_right);
      return tracing::append_borders(r, x, mode, 3, n.pad_channels, behind);
    }
    n.out.h = r.fitting(long(n.out.h) + n.win.pad_top + n.win.pad_bottom);
    n.out.w = r.fitting(long(n.out.w) + n.win.pad_left + n.win.pad_right);
    n.out.c = r.fitting(long(n.out.c) + n.pad_channels + behind);
    return r.append(n, x);
  }
};

namespace described {

constexpr operand pad(node const& n, std::same_as<operand> auto x) {
  var i, y{n.out.h}, j{n.out.w}, c{n.out.c};
  return result(i, y, j, c) = padded(x, n.alpha)(i, y - n.win.pad_top, j - n.win.pad_left, c - n.pad_channels);
}

}  // namespace described

}  // namespace ago
