// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of volumes, x[n, d, h, w, c].
#pragma once

#include <ago/layers/expressed/windows3.hpp>

namespace ago {

namespace described {

/// Groups of channels of a convolution; with arguments that do not fit, extents of 0, which are reported.
struct channel_groups {
  int groups, parts, own, each;  ///< channels of one group before and after
  bool divides;

  constexpr channel_groups(int count, int channels, int out)
      : groups(count), parts(count > 0 ? count : 1), own(channels / parts), each(out / parts),
        divides(own * count == channels && each * count == out) {}
  /// The extent of the channels that are summed up.
  constexpr int summed() const { return divides ? own : 0; }
  /// Channel c of the group of result k.
  constexpr expression::affine from(expression::var& k, expression::var& c) const {
    return groups == 1 ? expression::affine(c) : own * (k / divisor()) + c;
  }
  /// Result k within its group.
  constexpr expression::affine within(expression::var& k) const {
    return groups == 1 ? expression::affine(k) : k % divisor();
  }

 private:
  constexpr int divisor() const { return each > 0 ? each : 1; }
};

}  // namespace described

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
    auto const formula = [this](expression::operand x, expression::weights parameter) {
      using namespace expression;
      described::channel_groups const of(groups, x.extent(4), out);
      described::window_axes const at(described::volume_of(x), kernel, stride, pad, dilation);
      operand const weight = parameter("weight", out, of.own, kernel.d, kernel.h, kernel.w);
      var n, d{at.d.count()}, h{at.h.count()}, w{at.w.count()}, k{out}, c{of.summed()};
      var i{kernel.d}, j{kernel.h}, l{kernel.w};
      operand const all = at.around(x, 0);
      scalar const y = all(n, at.d.at(d, i), at.h.at(h, j), at.w.at(w, l), of.from(k, c));
      return result(n, d, h, w, k) = sum(c, i, j, l)(y * weight(k, c, i, j, l));
    };
    return expression::compute("conv3d", formula, line)(volume);
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
    auto const formula = [this](expression::operand x, expression::weights parameter) {
      using namespace expression;
      described::channel_groups const of(groups, x.extent(4), out);
      extent3 const in = described::volume_of(x);
      operand const weight = parameter("weight", x.extent(4), of.each, kernel.d, kernel.h, kernel.w);
      auto const extent = [](int from, int size, int step, int apart, int before, int after, int more) {
        int const r = step * (from - 1) + more + (size - 1) * apart + 1 - before - after;
        return r < 0 || step < 1 || apart < 1 ? 0 : r;
      };
      var n, d{extent(in.d, kernel.d, stride.d, dilation.d, pad.front, pad.back, output_pad.d)};
      var h{extent(in.h, kernel.h, stride.h, dilation.h, pad.top, pad.bottom, output_pad.h)};
      var w{extent(in.w, kernel.w, stride.w, dilation.w, pad.left, pad.right, output_pad.w)};
      var k{out}, c{of.summed()}, i{kernel.d}, j{kernel.h}, l{kernel.w};
      expression::affine const a = d + pad.front - dilation.d * i, b = h + pad.top - dilation.h * j;
      expression::affine const e = w + pad.left - dilation.w * l;
      expression::affine const from = of.from(k, c), to = of.within(k);
      scalar const y = padded(x, 0)(n, a / stride.d, b / stride.h, e / stride.w, from) * weight(from, to, i, j, l);
      bool const every = stride.d == 1 && stride.h == 1 && stride.w == 1;
      scalar const term = every ? y : select(a % stride.d == 0 && b % stride.h == 0 && e % stride.w == 0, y, 0.);
      return result(n, d, h, w, k) = sum(c, i, j, l)(term);
    };
    return expression::compute("conv_transpose3d", formula, line)(volume);
  }
};

}  // namespace ago
