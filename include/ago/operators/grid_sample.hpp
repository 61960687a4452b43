// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images at positions that are values.
#pragma once

#include <ago/operators/operations.hpp>

namespace ago {

/// x[n, h, w, c] at the positions of grid[n, p, 2], the second operand: column, then row, from -1 to 1 across the
/// image. Bilinear, or the nearest pixel. Outside of the image is 0, or with `border` the nearest pixel of the image.
struct grid_sample {
  bool nearest = false;
  bool border = false;
  bool align_corners = false;  ///< -1 and 1 are the centres of the outermost pixels, otherwise their outer edges
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor image, tensor positions) const {
    auto const formula = [this](expression::operand x, expression::operand grid) {
      using namespace expression;
      var n, p, c;
      operand const row = result(n, p) = place(grid(n, p, 1), x.extent(1));
      var m, q;
      operand const column = result(m, q) = place(grid(m, q, 0), x.extent(2));
      operand const all = border ? x : padded(x, 0);
      var b, i, k;
      scalar const y = row(b, i), z = column(b, i);
      if (nearest) return operand(result(b, i, k) = all(b, round(y), round(z), k));
      scalar const top = floor(y), left = floor(z), below = y - top, right = z - left;
      scalar const upper = all(b, top, left, k) * (1. - right) + all(b, top, left + 1., k) * right;
      scalar const lower = all(b, top + 1., left, k) * (1. - right) + all(b, top + 1., left + 1., k) * right;
      return operand(result(b, i, k) = upper * (1. - below) + lower * below);
    };
    return expression::compute("grid_sample", formula, line)(image, positions);
  }

 private:
  /// A position in pixels.
  constexpr expression::scalar place(expression::scalar const& at, int extent) const {
    using namespace expression;
    scalar const r = align_corners ? (at + 1.) * ((extent - 1) / 2.) : ((at + 1.) * double(extent) - 1.) * .5;
    return border ? minimum(maximum(r, 0.), extent - 1.) : r;
  }
};

}  // namespace ago
