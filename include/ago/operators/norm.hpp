// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and layer norm: normalisation over the channels of each pixel.
#pragma once

#include <ago/operators/unary.hpp>

#include <concepts>

namespace ago {

/// exp(x) divided by its sum over the channels of each pixel.
using softmax = tracing::elementwise<op::softmax>;

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and (biased) variance of each pixel's channels.
/// Parameters gamma, beta.
struct layer_norm {
  float epsilon = 1e-5f;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::layer_norm, line, x);
    if (!(epsilon >= 0)) r.complain(ir::fault::argument_must_not_be_negative, 0, -1);
    ir::node n{.kind = op::layer_norm, .out = x.dims(), .alpha = epsilon};
    n.weight = r.place(op::layer_norm, role::gamma, n.out.c);
    n.shift = r.place(op::layer_norm, role::beta, n.out.c);
    return r.append(n, x);
  }
};

namespace described {

constexpr operand softmax(std::same_as<operand> auto x) {
  var i, y, j, c;
  operand const peak = result(i, y, j) = maximum(c)(x(i, y, j, c));
  operand const e = result(i, y, j, c) = exp(x(i, y, j, c) - peak(i, y, j));
  operand const total = result(i, y, j) = sum(c)(e(i, y, j, c));
  return result(i, y, j, c) = e(i, y, j, c) / total(i, y, j);
}

constexpr operand layer_norm(node const& n, std::same_as<operand> auto x, parameters const& parameter) {
  operand const gamma = parameter("gamma", n.weight, n.out.c);
  operand const beta = parameter("beta", n.shift, n.out.c);
  var i, y, j, c;
  operand const mean = result(i, y, j) = sum(c)(x(i, y, j, c)) / n.out.c;
  operand const centred = result(i, y, j, c) = x(i, y, j, c) - mean(i, y, j);
  operand const variance = result(i, y, j) = sum(c)(centred(i, y, j, c) * centred(i, y, j, c)) / n.out.c;
  return result(i, y, j, c) = centred(i, y, j, c) * rsqrt(variance(i, y, j) + n.alpha) * gamma(c) + beta(c);
}

}  // namespace described

}  // namespace ago
