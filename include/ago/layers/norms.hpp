// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations by statistics of the value itself, composed of means, products and elementwise functions.
// They are templates for the same reason as activations.
#pragma once

#include <ago/operators/activations.hpp>
#include <ago/operators/binary.hpp>
#include <ago/operators/convolution.hpp>
#include <ago/operators/expand.hpp>
#include <ago/operators/permute.hpp>
#include <ago/operators/pooling.hpp>
#include <ago/operators/reduction.hpp>
#include <ago/operators/reshape.hpp>
#include <ago/operators/unary.hpp>

#include <concepts>

namespace ago {

namespace tracing {

constexpr tensor multiplied(tensor x, tensor y, int line) { return record_binary(op::mul, line, x, y); }
/// A function of one operand, so that kernels can apply it to what they have just computed.
constexpr tensor square_of(std::same_as<tensor> auto x, int line) {
  return tracing::mapped<ir::squared>(x, "square", 0, 0, line);
}

/// x * gamma + beta, with a gamma and a beta for each channel.
constexpr tensor scaled_and_shifted(tensor x, int line) {
  recording r(op::scale, line, x);
  ir::node scale{.kind = op::scale, .out = x.dims()}, shift{.kind = op::bias, .out = x.dims()};
  scale.weight = r.place(op::scale, role::gamma, x.channels());
  shift.shift = r.place(op::bias, role::beta, x.channels());
  return r.append(shift, r.append(scale, x));
}

/// x, {n, 1, 1, c}, with the channels of each group replaced by their mean.
constexpr tensor mean_of_groups(tensor x, int groups, int line) {
  shape const s = x.dims();
  if (groups == s.c) return x;
  x = reshape{s.n, 1, groups, s.c / groups, line}(x);
  x = reduce_mean{axis::channels, line}(x);
  x = expand{0, 0, 0, s.c / groups, line}(x);
  return reshape{s.n, 1, 1, s.c, line}(x);
}

/// (x - mean) / sqrt(variance + epsilon) over the image and the channels of each group. The variance is computed from
/// the differences, so that a mean far from 0 does not reduce its accuracy.
constexpr tensor normalised(std::same_as<tensor> auto x, int groups, float epsilon, int line) {
  tensor const mean = mean_of_groups(global_avg_pool{line}(x), groups, line);
  tensor const centered = record_binary(op::sub, line, x, mean);
  tensor const squares = global_avg_pool{line}(square_of(centered, line));
  tensor const variance = mean_of_groups(squares, groups, line);
  return multiplied(centered, tracing::mapped<ir::reciprocal_root_above>(variance, "reciprocal_root", epsilon, 0, line),
                    line);
}

}  // namespace tracing

/// Normalises every image and group of channels to mean 0 and variance 1, then, if `affine`, scales and shifts each
/// channel: PyTorch's GroupNorm. Parameters gamma, beta.
struct group_norm {
  int groups = 1;
  float epsilon = 1e-5f;
  bool affine = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    tracing::recording r(op::scale, line, x);
    int parts = r.positive(groups);
    if (!(epsilon >= 0)) r.complain(ir::fault::argument_must_not_be_negative, 0, -1);
    if (x.channels() % parts) {
      r.complain(ir::fault::channels_not_divisible_by_groups, parts, x.channels());
      parts = 1;
    }
    tensor const y = tracing::normalised(x, parts, epsilon, line);
    return affine ? tracing::scaled_and_shifted(y, line) : y;
  }
};

/// group_norm with a group for each channel: PyTorch's InstanceNorm2d(affine=True). Parameters gamma, beta.
struct instance_norm {
  float epsilon = 1e-5f;
  bool affine = true;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return group_norm{x.channels(), epsilon, affine, line}(x);
  }
};

/// x / sqrt(mean square of the pixel's channels + epsilon) * gamma: PyTorch's RMSNorm. Parameter gamma.
struct rms_norm {
  float epsilon = 1e-5f;
  int line = __builtin_LINE();

  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    tensor const mean = reduce_mean{axis::channels, line}(tracing::square_of(x, line));
    tensor const factor = tracing::mapped<ir::reciprocal_root_above>(mean, "reciprocal_root", epsilon, 0, line);
    tensor const y = tracing::multiplied(x, factor, line);
    tracing::recording r(op::scale, line, y);
    if (!(epsilon >= 0)) r.complain(ir::fault::argument_must_not_be_negative, 0, -1);
    ir::node n{.kind = op::scale, .out = y.dims()};
    n.weight = r.place(op::scale, role::gamma, n.out.c);
    return r.append(n, y);
  }
};

/// x divided by its Euclidean norm along an axis, or by `least` where that is larger: PyTorch's normalize.
struct l2_normalize {
  axis along = axis::channels;
  float least = 1e-12f;
  int line = __builtin_LINE();

  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    tensor const squares = reduce_sum{along, line}(tracing::square_of(x, line));
    return tracing::record_binary(op::div, line, x,
                                  tracing::mapped<ir::root_at_least>(squares, "square_root", least, 0, line));
  }
};

/// x / (bias + alpha * mean square of `size` neighbouring channels)^beta, where channels beyond the first and the last
/// count as 0: AlexNet's local response normalisation, PyTorch's LocalResponseNorm of an odd size, ONNX's LRN.
struct local_response_norm {
  int size = 5;
  float alpha = 1e-4f, beta = .75f, bias = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    shape const s = x.dims();
    int const width = tracing::recording(op::avg_pool, line, x).positive(size);
    // Pixels are innermost, because all are treated alike; channels are columns.
    auto y = reshape{s.n, 1, s.h * s.w, s.c, line}(tracing::square_of(x, line));
    avg_pool const mean{
        .kernel = {1, width}, .stride = {1, 1}, .pad = pads{0, (width - 1) / 2, 0, width / 2}, .line = line};
    y = permute{0, 1, 3, 2, line}(mean(permute{0, 1, 3, 2, line}(y)));
    y = reshape{s.n, s.h, s.w, s.c, line}(y);
    return tracing::multiplied(x, to_power{-beta, line}(affine{alpha, bias, line}(y)), line);
  }
};

}  // namespace ago
