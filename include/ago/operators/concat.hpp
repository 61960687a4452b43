// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values one after the other along an axis.
#pragma once

#include <ago/operators/binary.hpp>
#include <ago/operators/parts.hpp>

#include <concepts>

namespace ago {

namespace tracing {
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

namespace described {

constexpr operand concat(node const& n, std::same_as<operand> auto const* x) {
  return joined(x, n.input_count, n.axis);
}

}  // namespace described

}  // namespace ago
