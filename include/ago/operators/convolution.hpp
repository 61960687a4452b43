// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions: conv2d, pointwise, depthwise.
#pragma once

#include <ago/operators/per_channel.hpp>
#include <ago/operators/window.hpp>

#include <concepts>

namespace ago {

namespace tracing {

struct convolution {
  int out, groups;
  extent2 kernel, stride;
  padding pad;
  extent2 dilation;
  bool bias;
};

/// Records a convolution as its most specific kind: pointwise, depthwise, or conv2d.
constexpr tensor record_convolution(recording& r, tensor x, convolution const& c) {
  shape const in = x.dims();
  int groups = r.positive(c.groups), out = r.positive(c.out);
  if (in.c % groups) r.complain(ir::fault::channels_not_divisible_by_groups, groups, in.c);
  if (out % groups) r.complain(ir::fault::outputs_not_divisible_by_groups, groups, out);
  if (in.c % groups || out % groups) groups = 1;

  ir::node n = windowed(r, op::conv2d, in, c.kernel, c.stride, c.pad, c.dilation);
  n.out.c = out;
  n.groups = groups;
  if (groups == 1 && n.win.is_identity()) n.kind = op::pointwise;
  else if (groups == in.c && groups == out) n.kind = op::depthwise;
  n.weight = r.place(n.kind, role::weight, out, in.c / groups, n.win.kernel_h, n.win.kernel_w);
  tensor const y = r.append(n, x);
  return c.bias ? append_bias(r, y) : y;
}

}  // namespace tracing

/// Convolution. Weights [out][channels / groups][kernel.h][kernel.w], then [out] with `.bias = true`.
struct conv2d {
  int out = 0;
  extent2 kernel = 1, stride = 1;
  padding pad = 0;
  extent2 dilation = 1;
  int groups = 1;
  bool bias = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::conv2d, line, x);
    return tracing::record_convolution(r, x, {out, groups, kernel, stride, pad, dilation, bias});
  }
};

/// 1x1 convolution: mixes the channels of each pixel. Weights [out][channels][1][1].
struct pointwise {
  int out = 0;
  bool bias = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::pointwise, line, x);
    return tracing::record_convolution(r, x, {out, 1, 1, 1, 0, 1, bias});
  }
};

/// Convolves each channel alone, into `multiplier` channels. Weights [channels * multiplier][1][kernel.h][kernel.w].
struct depthwise {
  extent2 kernel = 3, stride = 1;
  padding pad = 0;
  extent2 dilation = 1;
  int multiplier = 1;
  bool bias = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::depthwise, line, x);
    int const out = r.fitting(long(x.channels()) * r.positive(multiplier));
    return tracing::record_convolution(r, x, {out, x.channels(), kernel, stride, pad, dilation, bias});
  }
};

namespace described {

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

/// conv2d, depthwise, pointwise.
constexpr operand convolution(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  bool const depthwise = n.kind == op::depthwise;
  window const& w = n.win;
  int const groups = depthwise ? n.out.c : n.groups, inputs = x.extent(3) / groups, outputs = n.out.c / groups;
  operand weight;
  if (n.scatter.is_used()) weight = scattered_weights(n, groups, inputs, parameter);
  else weight = parameter.weight("weight", inputs, w.kernel_h, w.kernel_w);
  operand const image = has_pads(w) ? padded(x, 0) : x;
  var i, y{n.out.h}, j{n.out.w}, k, c, p, q;
  window_pixels const at(w, y, j, p, q);
  affine const channel = groups == 1 ? affine(c) : inputs * (k / outputs) + c;
  scalar total = 0;
  if (depthwise) total = sum(p, q)(image(i, at.row, at.column, k) * weight(k, 0, p, q));
  else if (n.kind == op::pointwise) total = sum(c)(x(i, y, j, c) * weight(k, c, 0, 0));
  else total = sum(c, p, q)(image(i, at.row, at.column, channel) * weight(k, c, p, q));
  return result(i, y, j, k) = scaled_by_norm(n, total, k, parameter);
}

}  // namespace described

}  // namespace ago
