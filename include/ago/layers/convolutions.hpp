// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers with weights: convolutions, linear, bias, scale, PReLU, batch norm.
#pragma once

#include <ago/layers/windowing.hpp>

namespace ago {

namespace tracing {

/// Appends op::bias after `x` to the layer `r`.
constexpr tensor append_bias(recording& r, tensor x) {
  ir::node n{.kind = op::bias, .out = x.dims()};
  n.shift = r.place(op::bias, role::bias, n.out.c);
  return r.append(n, x);
}

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

/// Matrix product over the channels of each pixel, plus bias. Weights [out][channels], then [out].
struct linear {
  int out = 0;
  bool bias = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::linear, line, x);
    ir::node n{.kind = op::linear, .out = x.dims()};
    n.out.c = r.positive(out);
    n.weight = r.place(op::linear, role::weight, n.out.c, x.channels());
    tensor const y = r.append(n, x);
    return bias ? tracing::append_bias(r, y) : y;
  }
};

/// Adds one number per channel.
struct bias {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::bias, line, x);
    return tracing::append_bias(r, x);
  }
};

/// Multiplies each channel by a number.
struct scale {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::scale, line, x);
    ir::node n{.kind = op::scale, .out = x.dims()};
    n.weight = r.place(op::scale, role::weight, n.out.c);
    return r.append(n, x);
  }
};

/// x where positive, elsewhere x times a trained slope: one for each channel or, if `shared`, one for all.
struct prelu {
  bool shared = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::prelu, line, x);
    ir::node n{.kind = op::prelu, .out = x.dims()};
    n.entries = shared ? 1 : n.out.c;
    n.weight = r.place(op::prelu, role::weight, n.entries);
    return r.append(n, x);
  }
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta per channel, with the statistics from training.
/// Parameters gamma, beta, mean, variance. Folded into the convolution before it where possible.
struct batch_norm {
  float epsilon = 1e-5f;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::batch_norm, line, x);
    if (!(epsilon >= 0)) r.complain(ir::fault::argument_must_not_be_negative, 0, -1);
    ir::node n{.kind = op::batch_norm, .out = x.dims(), .alpha = epsilon};
    n.norm = r.place(op::batch_norm, role::gamma, n.out.c);
    r.place(op::batch_norm, role::beta, n.out.c);
    r.place(op::batch_norm, role::mean, n.out.c);
    r.place(op::batch_norm, role::variance, n.out.c);
    return r.append(n, x);
  }
};

}  // namespace ago
