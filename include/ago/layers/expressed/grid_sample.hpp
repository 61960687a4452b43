// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images at positions that are values.
#pragma once

#include <ago/recognition/operation.hpp>

namespace ago {

/// x[n, h, w, c] at the positions of grid[n, p, 2], the second operand: column, then row, from -1 to 1 across the
/// image.
struct grid_sample {
  /// bicubic: with a = -3/4, as in PyTorch.
  enum interpolation : std::uint8_t { bilinear, nearest, bicubic };
  /// What is outside of the image.
  enum padding : std::uint8_t { zeros, border, reflection };

  interpolation mode = bilinear;
  padding outside = zeros;
  bool align_corners = false;  ///< -1 and 1 are the centres of the outermost pixels, otherwise their outer edges
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor image, tensor positions) const {
    auto const formula = [this](expression::operand x, expression::operand grid) {
      using namespace expression;
      var n, p;
      operand const row = result(n, p) = place(grid(n, p, 1), x.extent(1));
      var m, q;
      operand const column = result(m, q) = place(grid(m, q, 0), x.extent(2));
      operand const all = outside == zeros ? padded(x, 0) : x;  // without padding, indices end at the border
      if (mode == bicubic) return cubic(all, row, column);
      var b, i, k;
      scalar const y = row(b, i), z = column(b, i);
      if (mode == nearest) return operand(result(b, i, k) = all(b, y, z, k));
      scalar const top = floor(y), left = floor(z), below = y - top, right = z - left;
      scalar const upper = all(b, top, left, k) * (1. - right) + all(b, top, left + 1., k) * right;
      scalar const lower = all(b, top + 1., left, k) * (1. - right) + all(b, top + 1., left + 1., k) * right;
      return operand(result(b, i, k) = upper * (1. - below) + lower * below);
    };
    return expression::compute("grid_sample", formula, line)(image, positions);
  }

 private:
  using scalar = expression::scalar;
  using operand = expression::operand;

  /// The ends of the image.
  constexpr double low() const { return align_corners ? 0 : -.5; }
  constexpr double high(int extent) const { return extent - 1 - low(); }

  /// A position in pixels.
  constexpr scalar place(scalar const& at, int extent) const {
    using namespace expression;
    scalar r = align_corners ? (at + 1.) * ((extent - 1) / 2.) : ((at + 1.) * double(extent) - 1.) * .5;
    if (mode == nearest) r = round(r);
    if (outside == reflection) return reflected(r, extent);
    if (outside == zeros) return r;
    scalar const clamped = minimum(maximum(r, 0.), extent - 1.);
    if (mode != bicubic) return clamped;
    // As ONNX has it: within half a pixel of the border, a cubic goes on.
    return select(r < low(), 0., select(high(extent) < r, extent - 1., r));
  }
  /// A position that goes back and forth between the ends of the image.
  constexpr scalar reflected(scalar const& at, int extent) const {
    using namespace expression;
    double const length = high(extent) - low();
    if (length == 0) return at * 0.;
    scalar const from = at - low(), twice = from - floor(from / (2 * length)) * (2 * length);
    return high(extent) - abs(twice - length);
  }

  /// The sum over 4x4 pixels.
  constexpr operand cubic(operand const& all, operand const& row, operand const& column) const {
    using namespace expression;
    operand const rows = taps(row, all.extent(1)), columns = taps(column, all.extent(2));
    operand const row_shares = shares(row), column_shares = shares(column);
    var b, i, k, r, s;
    return result(b, i, k) =
               sum(r, s)(row_shares(b, i, r) * column_shares(b, i, s) * all(b, rows(b, i, r), columns(b, i, s), k));
  }
  constexpr operand taps(operand const& at, int extent) const {
    using namespace expression;
    var n, p, t{4};
    scalar const tap = floor(at(n, p)) + at.position(t) - 1.;
    return result(n, p, t) = outside == reflection ? reflected(tap, extent) : tap;
  }
  static constexpr operand shares(operand const& at) {
    using namespace expression;
    constexpr double a = -.75;
    var n, p, t{4};
    scalar const d = abs(at(n, p) - floor(at(n, p)) + 1. - at.position(t));
    return result(n, p, t) =
               select(d <= 1., ((a + 2) * d - (a + 3)) * d * d + 1., ((a * d - 5 * a) * d + 8 * a) * d - 4 * a);
  }
};

}  // namespace ago
