// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators as index expressions.
#pragma once

#include <ago/operators/described/functions.hpp>

namespace ago::described {

constexpr scalar clipped(scalar const& x, double lower, double upper) { return minimum(maximum(x, lower), upper); }

/// The function of an operator with one operand and no parameters.
constexpr scalar function_of(node const& n, scalar const& x) {
  switch (n.kind) {
    case op::identity: return x;
    case op::relu: return maximum(x, 0);
    case op::relu6: return clipped(x, 0, 6);
    case op::leaky_relu: return select(x < 0, x * n.alpha, x);
    case op::clip: return clipped(x, n.alpha, n.beta);
    case op::hard_sigmoid: return clipped(x / 6 + .5, 0, 1);
    case op::hard_swish: return x * clipped(x / 6 + .5, 0, 1);
    case op::sigmoid: return sigmoid(x);
    case op::silu: return x * sigmoid(x);
    case op::gelu: return .5 * x * (1 + erf(x * .7071067811865476));
    case op::gelu_tanh: return .5 * x * (1 + tanh(.7978845608028654 * (x + .044715 * x * x * x)));
    case op::tanh: return tanh(x);
    case op::map: return value_of(n, x);
    default: no_case_for_this_value();
  }
}
constexpr operand unary(node const& n, operand x) {
  var i, y, j, c;
  return result(i, y, j, c) = function_of(n, x(i, y, j, c));
}

/// The function of an operator with two operands.
constexpr scalar function_of(node const& n, scalar const& first, scalar const& second) {
  scalar const &a = n.transposed ? second : first, &b = n.transposed ? first : second;
  switch (n.kind) {
    case op::add: return a + b;
    case op::mul: return a * b;
    case op::sub: return a - b;
    case op::div: return a / b;
    case op::maximum: return maximum(a, b);
    case op::minimum: return minimum(a, b);
    case op::less: return a < b;
    case op::power: return pow(a, b);
    default: no_case_for_this_value();
  }
}
/// The second operand is broadcast along its axes of one element.
constexpr operand binary(node const& n, operand a, operand b) {
  var v[4];
  auto const at = [&](int d) { return b.extent(d) == 1 ? affine(0) : affine(v[d]); };
  return result(v[0], v[1], v[2], v[3]) = function_of(n, a(v[0], v[1], v[2], v[3]), b(at(0), at(1), at(2), at(3)));
}

/// Of a folded batch norm, a bias does what the weights before it do not.
constexpr operand bias(node const& n, operand x, parameters const& parameter) {
  var i, y, j, c;
  scalar const value = x(i, y, j, c);
  scalar shift = 0;
  if (n.shift >= 0) shift = parameter.shift("shift")(c);
  if (n.norm < 0) return result(i, y, j, c) = value + shift;
  return result(i, y, j, c) = value + batch_statistics(n, parameter).normalised(shift, c);
}
constexpr operand batch_norm(node const& n, operand x, parameters const& parameter) {
  var i, y, j, c;
  return result(i, y, j, c) = batch_statistics(n, parameter).normalised(x(i, y, j, c), c);
}
constexpr operand scale(operand x, parameters const& parameter) {
  operand const factor = parameter.weight("scale");
  var i, y, j, c;
  return result(i, y, j, c) = x(i, y, j, c) * factor(c);
}
constexpr operand prelu(node const& n, operand x, parameters const& parameter) {
  bool const is_shared = n.entries == 1 && n.out.c != 1;
  operand const slope = is_shared ? parameter("slope", n.weight, 1) : parameter.weight("slope");
  var i, y, j, c;
  scalar const v = x(i, y, j, c);
  return result(i, y, j, c) = select(v < 0, v * slope(is_shared ? affine(0) : affine(c)), v);
}
/// A table for the pixels of an image.
constexpr operand positions(node const& n, operand x, parameters const& parameter) {
  operand const table = parameter("table", n.weight, n.out.h, n.out.w, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = x(i, y, j, c) + table(y, j, c);
}

}  // namespace ago::described
