// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images from the windows of a convolution.
#pragma once

#include <ago/recognition/operation.hpp>

namespace ago {

/// The sum of windows x[n, c, i, j, h, w] that overlap: element (i, j) of window (h, w) of `kernel` is added to the
/// pixel of the image that a convolution would read it from. The result is an image [n, height, width, c].
struct col2im {
  int height{}, width{};
  extent2 kernel = 1, stride = 1;
  pads pad{};
  extent2 dilation = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor windows) const {
    auto const formula = [this](expression::operand x) {
      using namespace expression;
      bool const fits = x.extent(2) == kernel.h && x.extent(3) == kernel.w && stride.h > 0 && stride.w > 0;
      var n, h{fits ? height : 0}, w{width}, c, i{kernel.h}, j{kernel.w};
      int const down = stride.h > 0 ? stride.h : 1, right = stride.w > 0 ? stride.w : 1;
      expression::affine const a = h + pad.top - dilation.h * i, b = w + pad.left - dilation.w * j;
      scalar const y = padded(x, 0)(n, c, i, j, a / down, b / right);
      return result(n, h, w, c) = sum(i, j)(select(a % down == 0 && b % right == 0, y, 0.));
    };
    return expression::compute("col2im", formula, line)(windows);
  }
};

}  // namespace ago
