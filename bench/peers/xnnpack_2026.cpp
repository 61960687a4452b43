// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XNNPACK since an operator is created, reshaped and set up, and elementwise operators are enumerators. Clamps are
// fused into convolutions only; layer norm and attention consist of several operators, as exporters to its graphs write
// them.
#include "xnnpack_operators.hpp"

#include <array>
#include <span>

namespace bench {

using ago::op;

/// Calls that several layers share.
struct xnnpack_calls {
  xnnpack_operators& all;
  layer const& l;

  pthreadpool_t threads() const { return all.threads_.get(); }
  std::size_t channels() const { return std::size_t(l.out.c); }
  std::size_t pixels() const { return std::size_t(l.out.pixels()); }

  void* workspace(std::size_t bytes) const {
    return all.workspaces_.emplace_back((bytes + sizeof(float) - 1) / sizeof(float)).data();
  }

  using place = xnnpack_operators::place;
  void unary(xnn_unary_operator kind, place from, place to, std::size_t count, std::size_t width,
             xnn_unary_params const* params = nullptr) const {
    xnn_operator_t o = nullptr;
    must(xnn_create_unary_elementwise_nc(kind, xnn_datatype_fp32, xnn_datatype_fp32, params, nullptr, nullptr, nullptr,
                                         0, &o),
         l, "create a function of");
    all.append(o);
    must(xnn_reshape_unary_elementwise_nc(o, count, width, from.stride, to.stride, threads()), l, "reshape");
    must(xnn_setup_unary_elementwise_nc(o, from.data, to.data), l, "set up");
  }
  /// Of values in memory of their own.
  void unary(xnn_unary_operator kind, float* values, float* to, std::size_t count) const {
    unary(kind, {values, count}, {to, count}, 1, count);
  }

  using extents = std::span<std::size_t const>;
  void binary(xnn_binary_operator kind, float const* a, extents of_a, float const* b, extents of_b, float* to) const {
    xnn_operator_t o = nullptr;
    must(xnn_create_binary_elementwise_nd(kind, xnn_datatype_fp32, nullptr, nullptr, nullptr, 0, &o), l,
         "create a sum or product of");
    all.append(o);
    must(xnn_reshape_binary_elementwise_nd(o, of_a.size(), of_a.data(), of_b.size(), of_b.data(), threads()), l,
         "reshape");
    must(xnn_setup_binary_elementwise_nd(o, a, b, to), l, "set up");
  }

  void reduce(xnn_reduce_operator kind, std::int64_t axis, float const* from, extents of_from, float* to) const {
    xnn_operator_t o = nullptr;
    must(xnn_create_reduce_nd(kind, xnn_datatype_fp32, nullptr, nullptr, 0, &o), l, "create a mean of");
    all.append(o);
    must(xnn_reshape_reduce_nd(o, 1, &axis, of_from.size(), of_from.data(), nullptr, threads()), l, "reshape");
    must(xnn_setup_reduce_nd(o, nullptr, from, to), l, "set up");  // in float32, it is summed in the result
  }

  void transpose(float const* from, extents of_from, extents order, float* to) const {
    xnn_operator_t o = nullptr;
    must(xnn_create_transpose_nd_x32(0, &o), l, "create a transposition of");
    all.append(o);
    must(xnn_reshape_transpose_nd_x32(o, of_from.size(), of_from.data(), order.data(), threads()), l, "reshape");
    must(xnn_setup_transpose_nd_x32(o, from, to), l, "set up");
  }

  /// For each of `batch`: a {m, k} times b {k, n}, or {n, k} if transposed.
  void product(bool transposed, std::size_t batch, std::size_t m, std::size_t k, std::size_t n, float const* a,
               float const* b, float* to) const {
    xnn_operator_t o = nullptr;
    must(xnn_create_batch_matrix_multiply_nc_f32(transposed ? XNN_FLAG_TRANSPOSE_B : 0, &o), l, "create a product of");
    all.append(o);
    std::size_t bytes = 0;
    must(xnn_reshape_batch_matrix_multiply_nc_f32(o, 1, &batch, &batch, m, k, n, &bytes, threads()), l, "reshape");
    must(xnn_setup_batch_matrix_multiply_nc_f32(o, workspace(bytes), a, b, to), l, "set up");
  }
};

namespace {

/// Of values whose memory must be their own.
float* dense(layer const& l, ago::shape of, xnnpack_operators::place p) {
  if (p.stride != std::size_t(of.c))
    throw unsupported(std::string("XNNPACK has no ") + name_of(l.kind) + " of slices of values");
  return p.data;
}

}  // namespace

std::size_t xnnpack_operators::scratch_floats(layer const& l) {
  std::size_t const count = std::size_t(l.out.count()), pixels = std::size_t(l.out.pixels());
  if (l.kind == op::layer_norm) return 2 * pixels + XNN_EXTRA_BYTES;
  if (l.kind == op::attention_values) return 4 * count + std::size_t(l.groups) * pixels * std::size_t(l.in.pixels());
  return l.function == op::silu ? count : 0;
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
           to.stride, weights.data(), l.bias.data(), l.before.lower, l.before.upper, 0, nullptr, &o),
       l, "create");
  append(o);
  std::size_t bytes = 0;
  must(xnn_reshape_convolution2d_nhwc_f32(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w), &bytes,
                                          nullptr, nullptr, threads_.get()),
       l, "reshape");
  must(xnn_setup_convolution2d_nhwc_f32(o, xnnpack_calls{*this, l}.workspace(bytes), from.data, to.data), l, "set up");
}

void xnnpack_operators::linear(layer const& l, place from, place to) {
  auto const in = std::size_t(l.in.c), out = std::size_t(l.out.c);
  xnn_operator_t o = nullptr;
  must(xnn_create_fully_connected_nc_f32(in, out, from.stride, to.stride, l.weights.data(), l.bias.data(),
                                         l.before.lower, l.before.upper, 0, nullptr, &o),
       l, "create");
  append(o);
  must(xnn_reshape_fully_connected_nc_f32(o, std::size_t(l.out.pixels()), threads_.get()), l, "reshape");
  must(xnn_setup_fully_connected_nc_f32(o, from.data, to.data), l, "set up");
}

void xnnpack_operators::global_average(layer const& l, place from, place to) {
  std::array const image{std::size_t(l.in.n), std::size_t(l.in.h) * std::size_t(l.in.w), std::size_t(l.in.c)};
  xnnpack_calls{*this, l}.reduce(xnn_reduce_mean, 1, dense(l, l.in, from), image, dense(l, l.out, to));
}

void xnnpack_operators::pool(layer const& l, place from, place to) {
  ago::ir::window const& w = l.win;
  bool const average = l.kind == op::avg_pool;
  auto const u = [](int x) { return std::uint32_t(x); };
  clamp const none;
  xnn_operator_t o = nullptr;
  must(average ? xnn_create_average_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                       u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                       none.lower, none.upper, 0, &o)
               : xnn_create_max_pooling2d_nhwc_f32(u(w.pad_top), u(w.pad_right), u(w.pad_bottom), u(w.pad_left),
                                                   u(w.kernel_h), u(w.kernel_w), u(w.stride_h), u(w.stride_w),
                                                   u(w.dilation_h), u(w.dilation_w), none.lower, none.upper, 0, &o),
       l, "create");
  append(o);
  auto const reshape = average ? xnn_reshape_average_pooling2d_nhwc_f32 : xnn_reshape_max_pooling2d_nhwc_f32;
  must(reshape(o, std::size_t(l.in.n), std::size_t(l.in.h), std::size_t(l.in.w), std::size_t(l.in.c), from.stride,
               to.stride, nullptr, nullptr, threads_.get()),
       l, "reshape");
  auto const setup = average ? xnn_setup_average_pooling2d_nhwc_f32 : xnn_setup_max_pooling2d_nhwc_f32;
  must(setup(o, from.data, to.data), l, "set up");
}

void xnnpack_operators::limit(layer const& l, place from, place to) {
  xnn_unary_params bounds;
  bounds.clamp = {l.after.lower, l.after.upper};
  xnnpack_calls const calls{*this, l};
  calls.unary(xnn_unary_clamp, from, to, calls.pixels(), calls.channels(), &bounds);
}

void xnnpack_operators::copy(layer const& l, std::size_t channels, place from, place to) {
  xnn_operator_t o = nullptr;
  must(xnn_create_copy_nc_x32(0, &o), l, "create");
  append(o);
  must(xnn_reshape_copy_nc_x32(o, std::size_t(l.out.pixels()), channels, from.stride, to.stride, threads_.get()), l,
       "reshape");
  must(xnn_setup_copy_nc_x32(o, from.data, to.data), l, "set up");
}

void xnnpack_operators::shuffle(layer const& l, place from, place to) {
  xnnpack_calls const calls{*this, l};
  std::size_t const groups = std::size_t(l.groups);
  calls.transpose(dense(l, l.in, from), std::array{calls.pixels(), groups, calls.channels() / groups},
                  std::array<std::size_t, 3>{0, 2, 1}, dense(l, l.out, to));
}

void xnnpack_operators::add(layer const& l, float const* a, float const* b, float* to) {
  xnnpack_calls const calls{*this, l};
  std::array const all{std::size_t(l.out.count())};
  calls.binary(xnn_binary_add, a, all, b, all, to);
  if (!l.after.is_identity()) limit(l, {to, calls.channels()}, {to, calls.channels()});
}

void xnnpack_operators::apply_function(layer const& l, float* values, float* scratch) {
  xnnpack_calls const calls{*this, l};
  std::array const all{std::size_t(l.out.count())};
  if (l.function == op::gelu) return calls.unary(xnn_unary_gelu, values, values, all[0]);
  calls.unary(xnn_unary_sigmoid, values, scratch, all[0]);
  calls.binary(xnn_binary_multiply, values, all, scratch, all, values);
}

void xnnpack_operators::normalise(layer const& l, float const* from, float* to, float* scratch) {
  xnnpack_calls const calls{*this, l};
  std::array const all{calls.pixels(), calls.channels()}, each{calls.pixels(), std::size_t(1)};
  std::span const channels(&all[1], 1), one(&each[1], 1);
  float* const variance = scratch + calls.pixels();
  calls.reduce(xnn_reduce_mean, 1, from, all, scratch);
  calls.binary(xnn_binary_subtract, from, all, scratch, each, to);
  calls.reduce(xnn_reduce_mean_squared, 1, to, all, variance);
  calls.binary(xnn_binary_add, variance, each, &l.alpha, one, variance);
  calls.unary(xnn_unary_reciprocal_square_root, variance, variance, calls.pixels());
  calls.binary(xnn_binary_multiply, to, all, variance, each, to);
  calls.binary(xnn_binary_multiply, to, all, l.weights.data(), channels, to);
  calls.binary(xnn_binary_add, to, all, l.bias.data(), channels, to);
}

void xnnpack_operators::attend(layer const& l, float const* queries, float const* keys, float const* values, float* to,
                               float* scratch) {
  if (l.out.n != 1) throw unsupported("attention in batches is not written for XNNPACK");
  xnnpack_calls const calls{*this, l};
  std::size_t const heads = std::size_t(l.groups), width = calls.channels() / heads;
  std::size_t const tokens = calls.pixels(), others = std::size_t(l.in.pixels()), count = tokens * calls.channels();
  std::array<std::size_t, 3> const swap{1, 0, 2};
  float* const scores = scratch + 4 * count;
  calls.binary(xnn_binary_multiply, queries, std::array{count}, &l.alpha, std::array{std::size_t(1)},
               scratch + 3 * count);
  calls.transpose(scratch + 3 * count, std::array{tokens, heads, width}, swap, scratch);
  calls.transpose(keys, std::array{others, heads, width}, swap, scratch + count);
  calls.transpose(values, std::array{others, heads, width}, swap, scratch + 2 * count);
  calls.product(true, heads, tokens, width, others, scratch, scratch + count, scores);
  xnn_operator_t o = nullptr;
  must(xnn_create_softmax_nc_f32(0, &o), l, "create the softmax of");
  append(o);
  must(xnn_reshape_softmax_nc_f32(o, others, others, others, heads * tokens, threads_.get()), l, "reshape");
  must(xnn_setup_softmax_nc_f32(o, scores, scores), l, "set up");
  calls.product(false, heads, tokens, others, width, scores, scratch + 2 * count, scratch + 3 * count);
  calls.transpose(scratch + 3 * count, std::array{heads, tokens, width}, swap, to);
}

}  // namespace bench
