// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and matrix products with weights as index expressions.
#pragma once

#include <ago/operators/described/parts.hpp>

namespace ago::described {

/// Indices of the pixels that a window reads.
struct window_pixels {
  affine row, column;
  constexpr window_pixels(window const& w, var& y, var& x, var& p, var& q)
      : row(w.stride_h * y + w.dilation_h * p - w.pad_top), column(w.stride_w * x + w.dilation_w * q - w.pad_left) {}
};
constexpr bool has_pads(window const& w) { return w.pad_top || w.pad_left || w.pad_bottom || w.pad_right; }

/// The weights [out][in / groups][rows][columns] of a convolution that computes a transposed one: from [in][out /
/// groups][rows][columns], 0 for taps that the transposed one lacks. Both operators have `inputs` channels in a group.
constexpr operand scattered_weights(node const& n, int groups, int inputs, parameters const& parameter) {
  scattering const& s = n.scatter;
  int const phases = s.stride_h * s.stride_w, outputs = n.out.c / (groups * phases);
  operand const w = parameter("weight", n.weight, groups * inputs, outputs, s.kernel_h, s.kernel_w);
  var k{n.out.c}, c{inputs}, p{n.win.kernel_h}, q{n.win.kernel_w};
  affine const group = k / (phases * outputs), down = k / (s.stride_w * outputs) % s.stride_h,
               right = k / outputs % s.stride_w;
  affine const y = s.stride_h * (n.win.kernel_h - 1) + down - s.stride_h * p;
  affine const x = s.stride_w * (n.win.kernel_w - 1) + right - s.stride_w * q;
  scalar const tap = padded(w, 0)(inputs * group + c, k % outputs, y / s.dilation_h, x / s.dilation_w);
  if (s.dilation_h == 1 && s.dilation_w == 1) return result(k, c, p, q) = tap;
  return result(k, c, p, q) = select(y % s.dilation_h == affine(0) && x % s.dilation_w == affine(0), tap, 0);
}

/// conv2d, depthwise, pointwise, linear; a folded batch norm scales the weights.
constexpr operand convolution(node const& n, operand x, parameters const& parameter) {
  bool const depthwise = n.kind == op::depthwise;
  window const& w = n.win;
  int const groups = depthwise ? n.out.c : n.groups, inputs = x.extent(3) / groups, outputs = n.out.c / groups;
  operand weight;
  if (n.scatter.is_used()) weight = scattered_weights(n, groups, inputs, parameter);
  else if (n.kind == op::linear) weight = parameter.weight("weight", inputs);
  else weight = parameter.weight("weight", inputs, w.kernel_h, w.kernel_w);
  operand const image = has_pads(w) ? padded(x, 0) : x;
  var i, y{n.out.h}, j{n.out.w}, k, c, p, q;
  window_pixels const at(w, y, j, p, q);
  affine const channel = groups == 1 ? affine(c) : inputs * (k / outputs) + c;
  scalar total = 0;
  if (depthwise) total = sum(p, q)(image(i, at.row, at.column, k) * weight(k, 0, p, q));
  else if (n.kind == op::linear) total = sum(c)(x(i, y, j, c) * weight(k, c));
  else if (n.kind == op::pointwise) total = sum(c)(x(i, y, j, c) * weight(k, c, 0, 0));
  else total = sum(c, p, q)(image(i, at.row, at.column, channel) * weight(k, c, p, q));
  if (n.norm < 0) return result(i, y, j, k) = total;
  operand const gamma = parameter.norm("gamma", 0), variance = parameter.norm("variance", 3);
  return result(i, y, j, k) = total * gamma(k) * rsqrt(variance(k) + n.alpha);
}

}  // namespace ago::described
