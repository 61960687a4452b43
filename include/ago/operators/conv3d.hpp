// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of volumes, x[n, d, h, w, c].
#pragma once

#include <ago/operators/windows3.hpp>

namespace ago {

/// Convolution of a volume. Weights: [out][c / groups][depth][height][width], as in PyTorch and ONNX; a `bias{}` can
/// follow.
struct conv3d {
  int out{};
  extent3 kernel = 1, stride = 1;
  pads3 pad = 0;
  extent3 dilation = 1;
  int groups = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume) const {
    return expression::compute("conv3d", [this](expression::operand x, expression::weights parameter) {
      using namespace expression;
      int const channels = x.extent(4), parts = groups > 0 ? groups : 1, own = channels / parts, each = out / parts;
      bool const divides = own * groups == channels && each * groups == out;
      volumes::window_axes const at(volumes::volume_of(x), kernel, stride, pad, dilation);
      operand const weight = parameter("weight", out, own, kernel.d, kernel.h, kernel.w);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, k{out}, c{divides ? own : 0};
      var i{kernel.d}, j{kernel.h}, l{kernel.w};
      operand const all = at.around(x, 0);
      expression::affine const from = groups == 1 ? expression::affine(c) : own * (k / (each > 0 ? each : 1)) + c;
      return result(n, d, h, w, k) = sum(c, i, j, l)(all(n, at.d.at(d, i), at.h.at(h, j), at.w.at(w, l), from) *
                                                     weight(k, c, i, j, l));
    }, line)(volume);
  }
};

/// Transposed convolution of a volume. Weights: [c][out / groups][depth][height][width], as in PyTorch and ONNX.
struct conv_transpose3d {
  int out{};
  extent3 kernel = 1, stride = 1;
  pads3 pad = 0;
  extent3 output_pad = 0, dilation = 1;
  int groups = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor volume) const {
    return expression::compute("conv_transpose3d", [this](expression::operand x, expression::weights parameter) {
      using namespace expression;
      int const channels = x.extent(4), parts = groups > 0 ? groups : 1, own = channels / parts, each = out / parts;
      bool const divides = own * groups == channels && each * groups == out;
      extent3 const in = volumes::volume_of(x);
      operand const weight = parameter("weight", channels, each, kernel.d, kernel.h, kernel.w);
      auto const extent = [](int from, int size, int step, int apart, int before, int after, int more) {
        int const r = step * (from - 1) + more + (size - 1) * apart + 1 - before - after;
        return r < 0 || step < 1 || apart < 1 ? 0 : r;
      };
      var n, d{extent(in.d, kernel.d, stride.d, dilation.d, pad.front, pad.back, output_pad.d)};
      var h{extent(in.h, kernel.h, stride.h, dilation.h, pad.top, pad.bottom, output_pad.h)};
      var w{extent(in.w, kernel.w, stride.w, dilation.w, pad.left, pad.right, output_pad.w)};
      var k{out}, c{divides ? own : 0}, i{kernel.d}, j{kernel.h}, l{kernel.w};
      expression::affine const a = d + pad.front - dilation.d * i, b = h + pad.top - dilation.h * j;
      expression::affine const e = w + pad.left - dilation.w * l;
      expression::affine const from = groups == 1 ? expression::affine(c) : own * (k / (each > 0 ? each : 1)) + c;
      expression::affine const to = groups == 1 ? expression::affine(k) : k % (each > 0 ? each : 1);
      scalar const y = padded(x, 0)(n, a / stride.d, b / stride.h, e / stride.w, from) * weight(from, to, i, j, l);
      bool const every = stride.d == 1 && stride.h == 1 && stride.w == 1;
      scalar const term = every ? y : select(a % stride.d == 0 && b % stride.h == 0 && e % stride.w == 0, y, 0.);
      return result(n, d, h, w, k) = sum(c, i, j, l)(term);
    }, line)(volume);
  }
};

}  // namespace ago
