// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators with trained numbers for each channel: bias, scale, PReLU, batch norm.
#pragma once

#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

namespace tracing {
/// Appends op::bias after `x` to the layer `r`.
constexpr tensor append_bias(recording& r, tensor x) {
  ir::node n{.kind = op::bias, .out = x.dims()};
  n.shift = r.place(op::bias, role::bias, n.out.c);
  return r.append(n, x);
}
}  // namespace tracing

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

namespace described {

/// A batch norm at inference: (x - mean) * scale + beta, where scale = gamma / sqrt(variance + epsilon).
struct batch_statistics {
  operand gamma, beta, mean, variance;
  float epsilon;

  constexpr batch_statistics(node const& n, parameters const& parameter)
      : gamma(parameter.norm("gamma", 0)), beta(parameter.norm("beta", 1)), mean(parameter.norm("mean", 2)),
        variance(parameter.norm("variance", 3)), epsilon(n.alpha) {}
  constexpr scalar normalised(scalar const& x, var& c) const {
    return (x - mean(c)) * gamma(c) * rsqrt(variance(c) + epsilon) + beta(c);
  }
};

/// Of a batch norm that is folded into a product, the product has the factor and the bias after it the rest.
constexpr scalar scaled_by_norm(node const& n, std::same_as<scalar> auto const& product, var& k,
                                parameters const& parameter) {
  if (n.norm < 0) return product;
  operand const gamma = parameter.norm("gamma", 0), variance = parameter.norm("variance", 3);
  return product * gamma(k) * rsqrt(variance(k) + n.alpha);
}
/// Of a folded batch norm, a bias does what the weights before it do not.
constexpr operand bias(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  var i, y, j, c;
  scalar const value = x(i, y, j, c);
  scalar shift = 0;
  if (n.shift >= 0) shift = parameter.shift("shift")(c);
  if (n.norm < 0) return result(i, y, j, c) = value + shift;
  return result(i, y, j, c) = value + batch_statistics(n, parameter).normalised(shift, c);
}
constexpr operand batch_norm(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  var i, y, j, c;
  return result(i, y, j, c) = batch_statistics(n, parameter).normalised(x(i, y, j, c), c);
}
constexpr operand scale(std::same_as<operand> auto x, parameters const& parameter) {
  operand const factor = parameter.weight("scale");
  var i, y, j, c;
  return result(i, y, j, c) = x(i, y, j, c) * factor(c);
}
constexpr operand prelu(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  bool const is_shared = n.entries == 1 && n.out.c != 1;
  operand const slope = is_shared ? parameter("slope", n.weight, 1) : parameter.weight("slope");
  var i, y, j, c;
  scalar const v = x(i, y, j, c);
  return result(i, y, j, c) = select(v < 0, v * slope(is_shared ? affine(0) : affine(c)), v);
}

}  // namespace described

}  // namespace ago
