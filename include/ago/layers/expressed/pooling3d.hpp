// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling of volumes, x[n, d, h, w, c], and where the maxima are.
#pragma once

#include <ago/layers/expressed/windows3.hpp>

namespace ago {

/// Maximum of each window, without the padding. `ceil` is PyTorch's ceil_mode.
struct max_pool3d {
  extent3 kernel = 2;
  described::optional_extent3 stride{};  ///< that of the kernel, unless given
  pads3 pad = 0;
  extent3 dilation = 1;
  bool ceil = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume) const {
    auto const formula = [this](expression::operand x) {
      using namespace expression;
      described::window_axes const at(described::volume_of(x), kernel, stride.value_or(kernel), pad, dilation, ceil);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, c, i{kernel.d}, j{kernel.h}, k{kernel.w};
      operand const all = at.around(x, -3.402823466e38f);
      return result(n, d, h, w, c) = maximum(i, j, k)(all(n, at.d.at(d, i), at.h.at(h, j), at.w.at(w, k), c));
    };
    return expression::compute("max_pool3d", formula, line)(volume);
  }
};

/// The place of each window's maximum, the first of equals: the row-major index of the element in x[n, c, d, h, w], as
/// in ONNX. The second operand is the maxima, of `max_pool3d` or another layer. Indices are exact below 2^24.
struct max_pool3d_index {
  extent3 kernel = 2;
  described::optional_extent3 stride{};
  pads3 pad = 0;
  extent3 dilation = 1;
  bool ceil = false;
  bool column_major = false;  ///< within a volume, the depth is innermost
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume, tensor maxima) const {
    auto const formula = [this](expression::operand x, expression::operand most) {
      using namespace expression;
      extent3 const e = described::volume_of(x);
      described::window_axes const at(e, kernel, stride.value_or(kernel), pad, dilation, ceil);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, c, i{kernel.d}, j{kernel.h}, k{kernel.w};
      operand const all = at.around(x, -3.402823466e38f);
      expression::affine const a = at.d.at(d, i), b = at.h.at(h, j), g = at.w.at(w, k);
      expression::affine const place = column_major ? a + e.d * b + e.d * e.h * g : e.h * e.w * a + e.w * b + g;
      int const elements = e.d * e.h * e.w;
      scalar const first = minimum(i, j, k)(select(all(n, a, b, g, c) == most(n, d, h, w, c), x.position(place), 3e38));
      return result(n, d, h, w, c) = x.position(elements * x.extent(4) * n + elements * c) + first;
    };
    return expression::compute("max_pool3d_index", formula, line)(volume, maxima);
  }
};

/// Mean of each window. With `count_pads`, padding counts in the divisor, as by default in PyTorch (count_include_pad).
struct avg_pool3d {
  extent3 kernel = 2;
  described::optional_extent3 stride{};  ///< that of the kernel, unless given
  pads3 pad = 0;
  extent3 dilation = 1;
  bool ceil = false;
  bool count_pads = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume) const {
    auto const formula = [this](expression::operand x) {
      using namespace expression;
      described::window_axes const at(described::volume_of(x), kernel, stride.value_or(kernel), pad, dilation, ceil);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, c, i{kernel.d}, j{kernel.h}, k{kernel.w};
      operand const all = at.around(x, 0);
      scalar const count =
          at.d.counted(x, d, count_pads) * at.h.counted(x, h, count_pads) * at.w.counted(x, w, count_pads);
      return result(n, d, h, w, c) = sum(i, j, k)(all(n, at.d.at(d, i), at.h.at(h, j), at.w.at(w, k), c)) / count;
    };
    return expression::compute("avg_pool3d", formula, line)(volume);
  }
};

/// The p-norm of each window; padding counts as 0.
struct lp_pool3d {
  extent3 kernel = 2;
  described::optional_extent3 stride{};  ///< that of the kernel, unless given
  pads3 pad = 0;
  extent3 dilation = 1;
  bool ceil = false;
  float p = 2;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume) const {
    auto const formula = [this](expression::operand x) {
      using namespace expression;
      described::window_axes const at(described::volume_of(x), kernel, stride.value_or(kernel), pad, dilation, ceil);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, c, i{kernel.d}, j{kernel.h}, k{kernel.w};
      scalar const y = at.around(x, 0)(n, at.d.at(d, i), at.h.at(h, j), at.w.at(w, k), c);
      auto const all = sum(i, j, k);
      scalar const norm = p == 1 ? all(abs(y)) : p == 2 ? sqrt(all(y * y)) : pow(all(pow(abs(y), p)), 1 / p);
      return result(n, d, h, w, c) = norm;
    };
    return expression::compute("lp_pool3d", formula, line)(volume);
  }
};

}  // namespace ago
