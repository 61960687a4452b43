// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows on volumes, x[n, d, h, w, c]: their arguments, and the indices that they read.
#pragma once

#include <ago/recognition/operation.hpp>

namespace ago {

/// Depth, height and width; one number sets all.
struct extent3 {
  int d, h, w;
  constexpr extent3(int all) : d(all), h(all), w(all) {}
  constexpr extent3(int depth, int height, int width) : d(depth), h(height), w(width) {}
};

namespace described {
/// Depth, height and width, or nothing.
struct optional_extent3 {
  extent3 value = 0;
  bool given = false;
  constexpr optional_extent3() = default;
  constexpr optional_extent3(int all) : value(all), given(true) {}
  constexpr optional_extent3(int depth, int height, int width) : value(depth, height, width), given(true) {}
  constexpr optional_extent3(extent3 const& all) : value(all), given(true) {}
  constexpr extent3 value_or(extent3 other) const { return given ? value : other; }
};
}  // namespace described

/// Padding of each side of a volume, in elements.
struct pads3 {
  int front = 0, top = 0, left = 0, back = 0, bottom = 0, right = 0;
  constexpr pads3() = default;
  constexpr pads3(int all) : pads3(all, all, all) {}
  constexpr pads3(int depth, int height, int width) : pads3(depth, height, width, depth, height, width) {}
  constexpr pads3(int front_, int top_, int left_, int back_, int bottom_, int right_)
      : front(front_), top(top_), left(left_), back(back_), bottom(bottom_), right(right_) {}
};

namespace described {

/// Windows along one axis.
struct window_axis {
  int in = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  bool ceil = false;  ///< PyTorch's ceil_mode: another window if it begins within the axis or the padding before it

  /// 0 if there are none, or an argument is not what it must be.
  constexpr int count() const {
    if (kernel < 1 || stride < 1 || dilation < 1 || before < 0 || after < 0) return 0;
    int const room = in + before + after - (kernel - 1) * dilation - 1;
    if (room + (ceil ? stride - 1 : 0) < 0) return 0;
    int const floored = room < 0 ? 0 : room / stride + 1;
    bool const another = ceil && room % stride != 0 && floored * stride < in + before;
    return floored + (another ? 1 : 0);
  }
  /// Whether all elements of all windows are within the axis.
  constexpr bool is_inside() const { return before == 0 && (count() - 1) * stride + (kernel - 1) * dilation < in; }
  /// The element that number `tap` of window number `out` reads.
  constexpr expression::affine at(expression::var& out, expression::var& tap) const {
    return stride * out + dilation * tap - before;
  }
  /// The number of elements of window number `out` that are on the axis, or `with_pads` on it and its padding; recorded
  /// with x unless it is the same for all windows.
  constexpr expression::scalar counted(expression::operand const& x, expression::var& out, bool with_pads) const {
    using namespace expression;
    int const end = with_pads ? in + after : in;
    bool const begins_inside = with_pads || before == 0;
    if (begins_inside && (count() - 1) * stride + (kernel - 1) * dilation - before < end) return scalar(double(kernel));
    int const down = dilation > 0 ? dilation : 1;
    scalar const last = minimum(x.position((end - 1 + before - stride * out) / down), kernel - 1.);
    if (begins_inside) return last + 1.;
    return last - maximum(x.position((before - stride * out + down - 1) / down), 0.) + 1.;
  }
};

/// Windows along depth, height and width.
struct window_axes {
  window_axis d, h, w;

  constexpr window_axes(extent3 in, extent3 kernel, extent3 stride, pads3 pad, extent3 dilation, bool ceil = false)
      : d{in.d, kernel.d, stride.d, dilation.d, pad.front, pad.back, ceil},
        h{in.h, kernel.h, stride.h, dilation.h, pad.top, pad.bottom, ceil},
        w{in.w, kernel.w, stride.w, dilation.w, pad.left, pad.right, ceil} {}

  /// x, which is `outside` beyond its borders if windows reach there.
  constexpr expression::operand around(expression::operand x, float outside) const {
    return d.is_inside() && h.is_inside() && w.is_inside() ? x : padded(x, outside);
  }
};

/// The extents of a volume; those of an operand with another number of axes are reported by the indices that read it.
constexpr extent3 volume_of(expression::operand const& x) { return {x.extent(1), x.extent(2), x.extent(3)}; }

}  // namespace described
}  // namespace ago
