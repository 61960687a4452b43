// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators on two values: x + y, x - y, maximum(x, y) ...
#pragma once

#include <ago/operators/expand.hpp>
#include <ago/operators/parts.hpp>

#include <concepts>

namespace ago {

namespace tracing {

/// a and b, element by element. The one with the shape of the result becomes operand 0. If a kernel cannot read the
/// other one in place, it is first expanded in memory.
constexpr tensor record_binary(op kind, int line, tensor a, tensor b, bool stretch = true) {
  tensor const operands[] = {a, b};
  recording r(kind, line, operands);
  shape const s = a.dims(), t = b.dims();
  if (!check_extents(r, s, t, stretch)) return r.append({.kind = kind, .out = s}, operands);
  shape const whole = common_shape(s, t);
  bool const swapped = s != whole && (t == whole || s.count() < t.count());
  tensor const larger = swapped ? b : a, other = swapped ? a : b;
  ir::node n{.kind = kind, .out = whole};
  n.exchanged = swapped && !ir::commutes(kind);
  shape const o = other.dims();
  tensor const pair[] = {append_expand(r, larger, whole),
                         is_read_in_place(o, whole) ? other : append_expand(r, other, {o.n, whole.h, whole.w, o.c})};
  return r.append(n, pair);
}

}  // namespace tracing

// An extent of 1 is broadcast to that of the other operand. Nothing is copied if the smaller operand has one pixel for
// each image, {n, 1, 1, c}, one number for each pixel, {n, h, w, 1}, or both, {n, 1, 1, 1}; n may also be 1.

/// Sum.
constexpr tensor operator+(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::add, x.line, x.value, y);
}

/// Elementwise product.
constexpr tensor operator*(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::mul, x.line, x.value, y);
}

constexpr tensor operator-(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::sub, x.line, x.value, y);
}

/// Elementwise quotient.
constexpr tensor operator/(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::div, x.line, x.value, y);
}

/// The larger of two elements; NaN if either is NaN.
constexpr tensor maximum(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::maximum, x.line, x.value, y);
}

/// The smaller of two elements; NaN if either is NaN.
constexpr tensor minimum(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::minimum, x.line, x.value, y);
}

/// 1 where x < y, elsewhere 0.
constexpr tensor less(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::less, x.line, x.value, y);
}

/// x to the power of y, elementwise; NaN for a negative x and a y that is not an integer.
constexpr tensor power(tracing::left_operand x, tensor y) {
  return tracing::record_binary(op::power, x.line, x.value, y);
}

namespace tracing {
template <class>
inline constexpr bool never = false;
template <class A, class B>
concept one_is_tensor = std::same_as<A, tensor> != std::same_as<B, tensor>;
constexpr tensor tensor_of(auto const& a, auto const& b) {
  if constexpr (std::same_as<decltype(a), tensor const&>) return a;
  else return b;
}
}  // namespace tracing

// Refuses a number, a layer, or anything else that is not a tensor. (`auto`: the error is reported at the operator, not
// from inside a constant evaluation.)
template <class A, class B>
  requires tracing::one_is_tensor<A, B>
constexpr auto operator+(A const& a, B const& b) {
  static_assert(tracing::never<A>, "ago: + adds two tensors; for a number use affine{1, number}");
  return tracing::tensor_of(a, b);
}
template <class A, class B>
  requires tracing::one_is_tensor<A, B>
constexpr auto operator*(A const& a, B const& b) {
  static_assert(tracing::never<A>, "ago: * multiplies two tensors; for a number use affine{number, 0}");
  return tracing::tensor_of(a, b);
}
template <class A, class B>
  requires tracing::one_is_tensor<A, B>
constexpr auto operator-(A const& a, B const& b) {
  static_assert(tracing::never<A>, "ago: - subtracts two tensors; for a number use affine{1, -number}");
  return tracing::tensor_of(a, b);
}
template <class A, class B>
  requires tracing::one_is_tensor<A, B>
constexpr auto operator/(A const& a, B const& b) {
  static_assert(tracing::never<A>, "ago: / divides two tensors; for a number use affine{1 / number, 0}");
  return tracing::tensor_of(a, b);
}

namespace described {

/// The function of an operator with two operands.
constexpr scalar function_of(node const& n, std::same_as<scalar> auto const& first, scalar const& second) {
  scalar const &a = n.exchanged ? second : first, &b = n.exchanged ? first : second;
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
constexpr operand binary(node const& n, std::same_as<operand> auto a, operand b) {
  var v[4];
  auto const at = [&](int d) { return b.extent(d) == 1 ? affine(0) : affine(v[d]); };
  return result(v[0], v[1], v[2], v[3]) = function_of(n, a(v[0], v[1], v[2], v[3]), b(at(0), at(1), at(2), at(3)));
}

}  // namespace described

}  // namespace ago
