// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on two or more values: x + y, x - y, maximum(x, y), concat(x, y, ...).
#pragma once

#include <ago/layers/broadcasting.hpp>

#include <concepts>

namespace ago {

namespace tracing {

/// The left operand of an operator with its source line; operators themselves cannot have default arguments.
struct left_operand {
  tensor value;
  int line;
  constexpr left_operand(tensor x, int at = __builtin_LINE()) : value(x), line(at) {}
};

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
  n.transposed = swapped && !ir::commutes(kind);
  shape const o = other.dims();
  tensor const pair[] = {append_expand(r, larger, whole),
                         is_read_in_place(o, whole) ? other : append_expand(r, other, {o.n, whole.h, whole.w, o.c})};
  return r.append(n, pair);
}

/// Joins values along an axis. `line`: 0 if unknown; the lines of the operands are used then.
constexpr tensor record_concat(int line, tensor const* parts, int count, axis along = axis::channels) {
  if (count == 1) return parts[0];
  recording r(op::concat, line ? line : line_of(parts[0]), {parts, count});
  ir::node n{.kind = op::concat, .out = parts[0].dims()};
  n.axis = int(along);
  constexpr int order[] = {1, 2, 0, 3};  // of the checks: height, width, images, channels
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    shape const s = parts[i].dims();
    int const at = line ? line : line_of(parts[i]);
    for (int const a : order) {
      int const expected = extent_along(n.out, a), got = extent_along(s, a);
      if (a == n.axis || expected == got) continue;
      r.complain(a == 3 ? ir::fault::channels_differ : ir::fault::extents_differ, expected, got, at);
      break;
    }
    sum += extent_along(s, n.axis);
  }
  extent_along(n.out, n.axis) = r.fitting(sum);
  return r.append(n, {parts, count});
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

/// Joins values along their channels.
template <std::same_as<tensor>... Rest>
constexpr tensor concat(tracing::left_operand first, Rest... rest) {
  tensor const parts[] = {first.value, rest...};
  return tracing::record_concat(first.line, parts, 1 + sizeof...(rest));
}
/// Joins values along an axis.
template <std::same_as<tensor>... Rest>
constexpr tensor concat(axis along, tracing::left_operand first, Rest... rest) {
  tensor const parts[] = {first.value, rest...};
  return tracing::record_concat(first.line, parts, 1 + sizeof...(rest), along);
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

}  // namespace ago
