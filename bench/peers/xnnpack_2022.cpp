// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XNNPACK as Debian 12 has it. Clamps are fused, SiLU is a sigmoid and a product; it has no products of two values.
#include "xnnpack_operators.hpp"

namespace bench {

using ago::op;

std::size_t xnnpack_operators::scratch_floats(layer const& l) {
  return l.function == op::silu ? std::size_t(l.out.count()) : 0;
}

void xnnpack_operators::convolution(layer const& l, std::vector<float> const& weights, place from, place to) {
  ago::ir::window const& w = l.win;
  auto const groups = std::uint32_t(l.groups);
  auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
  xnn_operator_t o = nullptr;
  must(xnn_create_convolution2d_nhwc_f32(
           std::uint32_t(w.pad_top), std::uint32_t(w.pad_right), std::uint32_t(w.pad_bottom), std::uint32_t(w.pad_left),
           std::uint32_t(w.kernel_h), std::uint32_t(w.kernel_w), std::uint32_t(w.stride_h), std::uint32_t(w.stride_w),
           std::uint32_t(w.dilation_h), std::uint32_t(w.dilation_w), groups, in / groups, out / groups, from.stride,
           to.stride, weights.data(), l.bias.data(), l.before.lower, l.before.upper, 0, &o),
       l, "create");
  append(o);
  must(xnn_setup_convolution2d_nhwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w), from.data,
                                        to.data, threads_.get()),
       l, "set up");
}

void xnnpack_operators::linear(layer const& l, place from, place to) {
  auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
  xnn_operator_t o = nullptr;
  must(xnn_create_fully_connected_nc_f32(in, out, from.stride, to.stride, l.weights.data(), l.bias.data(),
                                         l.before.lower, l.before.upper, 0, &o),
       l, "create");
  append(o);
  must(xnn_setup_fully_connected_nc_f32(o, std::size_t(l.out.pixels()), from.data, to.data, threads_.get()), l,
       "set up");
}

void xnnpack_operators::global_average(layer const& l, place from, place to) {
  clamp const none;
  xnn_operator_t o = nullptr;
  must(xnn_create_global_average_pooling_nwc_f32(std::size_t(l.in.c), from.stride, to.stride, none.lower, none.upper, 0,
                                                 &o),
       l, "create");
  append(o);
  must(xnn_setup_global_average_pooling_nwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h) * std::size_t(l.in.w),
                                                from.data, to.data, threads_.get()),
       l, "set up");
}

void xnnpack_operators::pool(layer const& l, place from, place to) {
  ago::ir::window const& w = l.win;
  bool const average = l.kind == op::avg_pool;
  auto const u = [](int x) { return std::uint32_t(x); };
  std::size_t const channels = std::size_t(l.in.c);
  clamp const none;
  xnn_operator_t o = nullptr;
  must(average ? xnn_create_average_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                       u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                       channels, from.stride, to.stride, none.lower, none.upper, 0, &o)
               : xnn_create_max_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                   u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                   u(w.dilation_h), u(w.dilation_w), channels, from.stride, to.stride,
                                                   none.lower, none.upper, 0, &o),
       l, "create");
  append(o);
  auto const setup = average ? xnn_setup_average_pooling2d_nhwc_f32 : xnn_setup_max_pooling2d_nhwc_f32;
  must(setup(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w), from.data, to.data, threads_.get()), l,
       "set up");
}

void xnnpack_operators::limit(layer const& l, place from, place to) {
  xnn_operator_t o = nullptr;
  must(xnn_create_clamp_nc_f32(std::size_t(l.out.c), from.stride, to.stride, l.after.lower, l.after.upper, 0, &o), l,
       "create");
  append(o);
  must(xnn_setup_clamp_nc_f32(o, std::size_t(l.out.pixels()), from.data, to.data, threads_.get()), l, "set up");
}

void xnnpack_operators::copy(layer const& l, std::size_t channels, place from, place to) {
  xnn_operator_t o = nullptr;
  must(xnn_create_copy_nc_x32(channels, from.stride, to.stride, 0, &o), l, "create");
  append(o);
  must(xnn_setup_copy_nc_x32(o, std::size_t(l.out.pixels()), from.data, to.data, threads_.get()), l, "set up");
}

void xnnpack_operators::shuffle(layer const& l, place from, place to) {
  auto const groups = std::size_t(l.groups);
  xnn_operator_t o = nullptr;
  must(xnn_create_channel_shuffle_nc_x32(groups, std::size_t(l.in.c) / groups, from.stride, to.stride, 0, &o), l,
       "create");
  append(o);
  must(xnn_setup_channel_shuffle_nc_x32(o, std::size_t(l.out.pixels()), from.data, to.data, threads_.get()), l,
       "set up");
}

void xnnpack_operators::add(layer const& l, float const* a, float const* b, float* to) {
  std::size_t const count = std::size_t(l.out.count());
  xnn_operator_t o = nullptr;
  must(xnn_create_add_nd_f32(l.after.lower, l.after.upper, 0, &o), l, "create");
  append(o);
  must(xnn_setup_add_nd_f32(o, 1, &count, 1, &count, a, b, to, threads_.get()), l, "set up");
}

void xnnpack_operators::apply_function(layer const& l, float* values, float* scratch) {
  if (l.function != op::silu) throw unsupported("this version of XNNPACK has no gelu");
  std::size_t const channels = std::size_t(l.out.c), count = std::size_t(l.out.count());
  xnn_operator_t o = nullptr;
  must(xnn_create_sigmoid_nc_f32(channels, channels, channels, 0, &o), l, "create the sigmoid of");
  append(o);
  must(xnn_setup_sigmoid_nc_f32(o, std::size_t(l.out.pixels()), values, scratch, threads_.get()), l, "set up");
  clamp const none;
  must(xnn_create_multiply_nd_f32(none.lower, none.upper, 0, &o), l, "create the product of");
  append(o);
  must(xnn_setup_multiply_nd_f32(o, 1, &count, 1, &count, values, scratch, values, threads_.get()), l, "set up");
}

void xnnpack_operators::normalise(layer const&, float const*, float*, float*) {
  throw unsupported("this version of XNNPACK has no layer norm");
}

void xnnpack_operators::attend(layer const&, float const*, float const*, float const*, float*, float*) {
  throw unsupported("this version of XNNPACK has no products of two values");
}

}  // namespace bench
