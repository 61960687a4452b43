// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resizing of images.
#pragma once

#include <ago/ir/sampling.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

/// Resizes to the nearest pixel: by default, row y of the result is row floor(y * h / height). With
/// `sampling::half_pixel, rounding::nearest_or_up` it is PyTorch's interpolate(mode="nearest-exact").
struct resize_nearest {
  int height = 1, width = 1;
  ago::ir::sampling sampling = ago::ir::sampling::standard;
  ago::ir::rounding rounding = ago::ir::rounding::down;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::resize_nearest, line, x);
    ir::node n{.kind = op::resize_nearest, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.positions = sampling;
    n.rounds = rounding;
    return r.append(n, x);
  }
};

/// Resizes by linear interpolation in both directions; by default PyTorch's
/// interpolate(mode="bilinear", align_corners=False).
struct resize_bilinear {
  int height = 1, width = 1;
  ago::ir::sampling sampling = ago::ir::sampling::standard;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::resize_bilinear, line, x);
    ir::node n{.kind = op::resize_bilinear, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.positions = sampling;
    return r.append(n, x);
  }
};

namespace described {

/// Along one axis, pixel i of the result is at position (step * i + start) / divisor of the operand.
class sampled_axis {
 public:
  constexpr sampled_axis(node const& n, int in, int out) : in_(in), out_(out), rounding_(n.rounds) {
    using enum sampling;
    sampling how = n.positions;
    if (how == standard) how = n.kind == op::resize_nearest ? asymmetric : half_pixel;
    if (out == 1 && (how == align_corners || how == half_pixel_or_first)) return;
    bool const centres = how == half_pixel || how == half_pixel_or_first;
    step_ = how == align_corners ? in - 1 : centres ? 2 * in : in;
    start_ = centres ? in - out : 0;
    divisor_ = how == align_corners ? out - 1 : centres ? 2 * out : out;
  }

  /// The nearest pixel.
  constexpr subscript nearest(operand const& x, var& i) const {
    switch (rounding_) {
      case rounding::down: return at(x, i, 1, 0);
      case rounding::up: return at(x, i, 1, divisor_ - 1);
      case rounding::nearest_or_down: return at(x, i, 2, divisor_ - 1);
      case rounding::nearest_or_up: return at(x, i, 2, divisor_);
    }
    no_case_for_this_value();
  }
  /// The two pixels that it lies between; positions before the first count as that, those after the last likewise.
  constexpr subscript before(operand const& x, var& i) const { return at(x, i, 1, 0); }
  constexpr subscript after(operand const& x, var& i) const { return at(x, i, 1, divisor_); }
  /// The distance from the first of them.
  constexpr scalar distance(operand const& x, var& i) const {
    affine const place = step_ * i + start_;
    scalar const part = x.position(place % divisor_) / double(divisor_);
    return start_ < 0 ? select(place >= affine(0), part, 0) : part;
  }

 private:
  /// (factor * (step * i + start) + more) / (factor * divisor) within the operand: an index that is a value is clamped.
  constexpr subscript at(operand const& x, var& i, int factor, int more) const {
    int const first = factor * start_ + more, divisor = factor * divisor_;
    affine const place = (factor * step_ * i + first) / divisor;
    bool const is_inside = first >= 0 && (factor * step_ * (out_ - 1L) + first) / divisor < in_;
    return is_inside ? subscript(place) : subscript(x.position(place));
  }

  int in_, out_;
  ago::ir::rounding rounding_;
  int step_ = 0, start_ = 0, divisor_ = 1;
};

constexpr operand resize(node const& n, std::same_as<operand> auto x) {
  sampled_axis const rows(n, x.extent(1), n.out.h), columns(n, x.extent(2), n.out.w);
  var i, y{n.out.h}, j{n.out.w}, c;
  if (n.kind == op::resize_nearest) return result(i, y, j, c) = x(i, rows.nearest(x, y), columns.nearest(x, j), c);
  subscript const row[] = {rows.before(x, y), rows.after(x, y)};
  subscript const column[] = {columns.before(x, j), columns.after(x, j)};
  scalar const down = rows.distance(x, y), right = columns.distance(x, j);
  auto const between = [&](int k) {
    return (1 - right) * x(i, row[k], column[0], c) + right * x(i, row[k], column[1], c);
  };
  return result(i, y, j, c) = (1 - down) * between(0) + down * between(1);
}

}  // namespace described

}  // namespace ago
