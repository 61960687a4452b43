// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the elements of a value that hold for all inputs and parameters.
#pragma once

#include <ago/ir/graph.hpp>

namespace ago::passes {

struct value_bounds {
  float lower = -__builtin_huge_valf(), upper = __builtin_huge_valf();

  constexpr bool operator==(value_bounds const&) const = default;
  constexpr bool within(value_bounds const& other) const { return lower >= other.lower && upper <= other.upper; }
  constexpr bool positive() const { return lower >= 0; }
  constexpr float clamp(float x) const { return x < lower ? lower : x > upper ? upper : x; }
};

inline constexpr value_bounds not_negative{.lower = 0};

constexpr bool is_clamp(op kind) { return kind == op::relu || kind == op::relu6 || kind == op::clip; }

/// The bounds that a clamp enforces.
constexpr value_bounds bounds_of_clamp(node const& n) {
  switch (n.kind) {
    case op::relu: return not_negative;
    case op::relu6: return {0, 6};
    case op::clip: return {n.alpha, n.beta};
    default: no_case_for_this_value();
  }
}

/// The bounds `from` after a clamp to `to`.
constexpr value_bounds clamped(value_bounds const& from, value_bounds const& to) {
  return {to.clamp(from.lower), to.clamp(from.upper)};
}

constexpr value_bounds united(value_bounds const& a, value_bounds const& b) {
  return {a.lower < b.lower ? a.lower : b.lower, a.upper > b.upper ? a.upper : b.upper};
}

/// Bounds of node v's elements that hold in spite of rounding; `known` has the bounds of earlier nodes.
template <int V, int E, int O>
constexpr value_bounds bounds_of(graph<V, E, O> const& g, value_bounds const* known, int v) {
  node const& n = g.nodes[v];
  if (n.input_count == 0) return {};
  value_bounds const& first = known[g.operand(v)];
  if (moves_elements(n.kind)) return first;
  switch (n.kind) {
    case op::relu:
    case op::relu6:
    case op::clip: return clamped(first, bounds_of_clamp(n));
    case op::hard_sigmoid: return {0, 1};
    case op::sigmoid:
    case op::softmax: return not_negative;
    case op::leaky_relu: return first.positive() ? first : value_bounds{};
    case op::max_pool:
    case op::global_max_pool:
    case op::resize_nearest:
    case op::identity:
    case op::from_nchw:
    case op::to_nchw: return first;
    case op::pad: return united(first, {n.alpha, n.alpha});
    case op::avg_pool:
    case op::global_avg_pool: return first.positive() ? not_negative : value_bounds{};
    case op::add:
    case op::mul: return first.positive() && known[g.operand(v, 1)].positive() ? not_negative : value_bounds{};
    case op::concat: {
      value_bounds all = first;
      for (int k = 1; k < n.input_count; ++k) all = united(all, known[g.operand(v, k)]);
      return all;
    }
    default: return {};  // no bounds, which is correct for every operator
  }
}

}  // namespace ago::passes
