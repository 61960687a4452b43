// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposed convolution: the pixels at each position modulo the stride are computed by a convolution without stride.
#pragma once

#include <ago/layers/pixels.hpp>
#include <ago/operators/convolution.hpp>
#include <ago/operators/window.hpp>

namespace ago {

namespace tracing {

/// One axis of a transposed convolution, and of the convolution that computes it.
struct transposed_axis {
  int kernel, stride, dilation, before, after, more;
  int out{};            ///< extent of the result
  int taps{}, step{1};  ///< window and dilation of the convolution
  int pad_before{}, pad_after{};
  int skip{};  ///< pixels of its blocks before the result

  constexpr window_axis window() const { return {taps, 1, step, pad_before, pad_after}; }  ///< of the convolution
};

/// Pixel y of the result is pixel t = y + before of all that the windows cover, where t = i * stride + k * dilation for
/// pixel i of the operand and tap k. With t = q * stride + phase and j = (k * dilation - phase) / stride, i = q - j.
/// The convolution computes q = first, first + 1, ...
constexpr void resolve(recording& r, transposed_axis& a, bool same, int image) {
  a.kernel = r.positive(a.kernel);
  a.stride = r.positive(a.stride);
  a.dilation = a.kernel == 1 ? (r.positive(a.dilation), 1) : r.positive(a.dilation);
  long const span = long(a.kernel - 1) * a.dilation + 1;
  if (same) {
    long const covered = span - a.stride;
    a.before = r.fitting(covered > 0 ? covered / 2 : 0);
    a.after = r.fitting(covered > 0 ? covered - covered / 2 : 0);
    a.more = covered < 0 ? int(-covered) : 0;
  }
  a.before = r.not_negative(a.before);
  a.after = r.not_negative(a.after);
  a.more = r.not_negative(a.more);
  long const whole = long(image - 1) * a.stride + span + a.more, out = whole - a.before - a.after;
  if (out < 1) r.complain(ir::fault::pads_take_all, whole, long(a.before) + a.after);
  a.out = out < 1 ? 1 : r.fitting(out);
  a.step = a.stride == 1 ? a.dilation : 1;
  a.taps = a.stride == 1 ? a.kernel : r.fitting((span - 1) / a.stride + 1);
  long const reach = long(a.taps - 1) * a.step, start = a.before / a.stride, first = start < reach ? start : reach;
  long const end = (long(a.before) + a.out + a.stride - 1) / a.stride;
  a.pad_before = r.fitting(reach - first);
  a.pad_after = end > image ? r.fitting(end - image) : 0;
  a.skip = r.fitting(a.before - first * a.stride);
}

constexpr tensor append_slice(recording& r, tensor x, int along, int begin, int count) {
  ir::node n{.kind = op::slice, .out = x.dims(), .axis = along, .begin = begin};
  if (extent_along(n.out, along) == count) return x;
  extent_along(n.out, along) = count;
  return r.append(n, x);
}

}  // namespace tracing

/// Transposed convolution, PyTorch's ConvTranspose2d: each pixel adds its window of kernel x kernel pixels to the
/// result; windows are `stride` apart. `pad` is cropped from the result, `output_pad` is added at the bottom and right.
/// `same` makes extents `stride` times as large. Weights [channels][out / groups][kernel.h][kernel.w], then [out] with
/// `.bias = true`.
struct conv_transpose {
  int out = 0;
  extent2 kernel = 1, stride = 1;
  padding pad = 0;
  extent2 output_pad = 0, dilation = 1;
  int groups = 1;
  bool bias = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::conv2d, line, x);
    shape const in = x.dims();
    int parts = r.positive(groups), outputs = r.positive(out);
    if (in.c % parts) r.complain(ir::fault::channels_not_divisible_by_groups, parts, in.c);
    if (outputs % parts) r.complain(ir::fault::outputs_not_divisible_by_groups, parts, outputs);
    if (in.c % parts || outputs % parts) parts = 1;
    pads const& p = pad.sides;
    tracing::transposed_axis h{kernel.h, stride.h, dilation.h, p.top, p.bottom, output_pad.h};
    tracing::transposed_axis w{kernel.w, stride.w, dilation.w, p.left, p.right, output_pad.w};
    resolve(r, h, pad.is_same, in.h);
    resolve(r, w, pad.is_same, in.w);
    tensor y = convolve(r, x, h, w, parts, outputs);
    bool const blocks = h.stride > 1 || w.stride > 1;
    if (blocks && parts > 1) y = tracing::append_shuffle(r, y, parts);
    y = tracing::append_blocks(r, y, h.stride, w.stride);
    if (blocks && parts > 1) y = tracing::append_shuffle(r, y, outputs / parts);
    y = tracing::append_slice(r, y, 1, h.skip, h.out);
    y = tracing::append_slice(r, y, 2, w.skip, w.out);
    return bias ? tracing::append_bias(r, y) : y;
  }

 private:
  /// The pixels at all positions modulo the strides, as channels [position][out / groups] in each group.
  static constexpr tensor convolve(tracing::recording& r, tensor x, tracing::transposed_axis const& h,
                                   tracing::transposed_axis const& w, int groups, int outputs) {
    shape const in = x.dims();
    ir::node n{.kind = op::conv2d, .groups = groups};
    n.win = tracing::window_of(h.window(), w.window());
    n.scatter = {h.kernel, w.kernel, h.stride, w.stride, h.dilation / h.step, w.dilation / w.step};
    n.out = {in.n, r.fitting(long(in.h) + h.pad_before + h.pad_after - n.win.span_h() + 1),
             r.fitting(long(in.w) + w.pad_before + w.pad_after - n.win.span_w() + 1),
             r.fitting(long(outputs) * h.stride * w.stride)};
    if (groups == 1 && n.win.is_identity()) n.kind = op::pointwise;
    else if (groups == in.c && groups == n.out.c) n.kind = op::depthwise;
    n.weight = r.place(n.kind, role::weight, in.c, outputs / groups, h.kernel, w.kernel);
    return r.append(n, x);
  }
};

}  // namespace ago
