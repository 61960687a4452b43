// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs and taps meet in the register tile of a depthwise convolution.
#pragma once

#include <ago/requirements.hpp>

namespace ago::kernel {

/// A tile of ROWS x COLUMNS results of a KH x KW window with strides SH and SW.
template <int KH, int KW, int SH, int SW, int ROWS, int COLUMNS>
struct depthwise_geometry {
  static constexpr int kh = KH, kw = KW, sh = SH, sw = SW, rows = ROWS, columns = COLUMNS;
  static constexpr int in_rows = (rows - 1) * sh + kh, in_columns = (columns - 1) * sw + kw;
  /// Columns of the input at a side may be outside the image; the others are not.
  static constexpr int sides = columns > 1 ? kw / 2 : kw;
  static constexpr bool is_side(int c) { return c < sides || c >= in_columns - sides; }
  /// Does tap kx of some result read column c?
  static constexpr bool meets(int c, int kx) {
    return c >= kx && (c - kx) % sw == 0 && (c - kx) / sw < columns && c < in_columns;
  }
  /// Rows of results that input row r adds to.
  static constexpr int uses(int r) {
    int n = 0;
    for (int ky = 0; ky < kh; ++ky) n += r >= ky && (r - ky) % sh == 0 && (r - ky) / sh < rows;
    return n;
  }
  /// How many inputs later than the tap on its left each tap of row r is multiplied, so that there are about as many
  /// products between two additions to the same result as one takes cycles: `products` for every SW columns.
  static constexpr int lag(int r, int products) {
    int n = 0;
    while (columns > 1 && uses(r) > 0 && (1 + n) * uses(r) * kw < products) ++n;
    return n;
  }
};

}  // namespace ago::kernel
