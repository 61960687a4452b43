// Operators on two or more values: x + y, x * y, concat(x, y, ...).
#pragma once

#include <ago/graph/axis.hpp>
#include <ago/graph/recording.hpp>

#include <concepts>

namespace ago {

namespace detail {

/// The left operand of an operator, with the line it stands on: an operator itself takes no default argument.
struct left_operand {
  tensor value;
  int line;
  constexpr left_operand(tensor x, int at = __builtin_LINE()) : value(x), line(at) {}
};

/// Is `s` one pixel for each image of `whole`?
constexpr bool broadcasts_to(shape s, shape whole) { return s == shape{whole.n, 1, 1, whole.c}; }

constexpr tensor record_binary(op kind, int line, tensor a, tensor b) {
  bool const swapped = a.dims() != b.dims() && broadcasts_to(a.dims(), b.dims());
  tensor const operands[] = {swapped ? b : a, swapped ? a : b};
  recording r(kind, line, operands);
  shape const s = operands[0].dims(), t = operands[1].dims();
  if (s != t && !broadcasts_to(t, s)) {
    if (s.c != t.c) r.complain(fault::shapes_differ, s.c, t.c);
    else if (s.h != t.h) r.complain(fault::extents_differ, s.h, t.h);
    else if (s.w != t.w) r.complain(fault::extents_differ, s.w, t.w);
    else r.complain(fault::extents_differ, s.n, t.n);
  }
  return r.append({.kind = kind, .out = s}, operands);
}

/// Joins along an axis. `line` 0: not known, the lines of the operands serve.
constexpr tensor record_concat(int line, tensor const* parts, int count, axis along = axis::channels) {
  if (count == 1) return parts[0];
  recording r(op::concat, line ? line : line_of(parts[0]), {parts, count});
  node n{.kind = op::concat, .out = parts[0].dims()};
  n.axis = int(along);
  constexpr int order[] = {1, 2, 0, 3};  // of complaints: height, width, images, channels
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    shape const s = parts[i].dims();
    int const at = line ? line : line_of(parts[i]);
    for (int const a : order) {
      int const expected = extent_along(n.out, a), got = extent_along(s, a);
      if (a == n.axis || expected == got) continue;
      r.complain(a == 3 ? fault::channels_differ : fault::extents_differ, expected, got, at);
      break;
    }
    sum += extent_along(s, n.axis);
  }
  extent_along(n.out, n.axis) = r.fitting(sum);
  return r.append(n, {parts, count});
}

}  // namespace detail

/// Sum. One operand may be {n, 1, 1, c}: it is then added to every pixel of its image.
constexpr tensor operator+(detail::left_operand x, tensor y) {
  return detail::record_binary(op::add, x.line, x.value, y);
}

/// Product by element. One operand may be {n, 1, 1, c}, as a squeeze-and-excitation gate is.
constexpr tensor operator*(detail::left_operand x, tensor y) {
  return detail::record_binary(op::mul, x.line, x.value, y);
}

/// Joins values along their channels.
template <std::same_as<tensor>... Rest>
constexpr tensor concat(detail::left_operand first, Rest... rest) {
  tensor const parts[] = {first.value, rest...};
  return detail::record_concat(first.line, parts, 1 + sizeof...(rest));
}
/// Joins values along an axis.
template <std::same_as<tensor>... Rest>
constexpr tensor concat(axis along, detail::left_operand first, Rest... rest) {
  tensor const parts[] = {first.value, rest...};
  return detail::record_concat(first.line, parts, 1 + sizeof...(rest), along);
}

namespace detail {
template <class>
inline constexpr bool never = false;
template <class A, class B>
concept one_is_tensor = std::same_as<A, tensor> != std::same_as<B, tensor>;
constexpr tensor tensor_of(auto const& a, auto const& b) {
  if constexpr (std::same_as<decltype(a), tensor const&>) return a;
  else return b;
}
}  // namespace detail

// A number, a layer, or anything else that is not a tensor. (`auto`: the sentence comes at the operator, not from
// the depths of constant evaluation.)
template <class A, class B>
  requires detail::one_is_tensor<A, B>
constexpr auto operator+(A const& a, B const& b) {
  static_assert(detail::never<A>, "ago: + adds two tensors; for a number use map{[](auto x) { return x + 1.f; }}");
  return detail::tensor_of(a, b);
}
template <class A, class B>
  requires detail::one_is_tensor<A, B>
constexpr auto operator*(A const& a, B const& b) {
  static_assert(detail::never<A>,
                "ago: * multiplies two tensors; for a number use map{[](auto x) { return x * 2.f; }}");
  return detail::tensor_of(a, b);
}

}  // namespace ago
