// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algebraic simplification by all rules.
#pragma once

#include <ago/passes/clamp_rules.hpp>
#include <ago/passes/constant_rules.hpp>
#include <ago/passes/movement_rules.hpp>
#include <ago/passes/pool_rules.hpp>
#include <ago/passes/preprocessing.hpp>
#include <ago/passes/reassociation_rules.hpp>

namespace ago::passes {

/// Applies to each node v the first rule that fits; nodes are visited in order.
template <int V, int E, int O>
class simplifier {
 public:
  constexpr simplifier(graph<V, E, O>& g, algebra freedom, rule_counts& applied)
      : w_(g), reassociates_(freedom == algebra::reassociate), applied_(applied) {}

  constexpr void visit(int v) {
    apply(v);
    w_.update_bounds(v);
  }

 private:
  constexpr bool count(rule r, bool applied) {
    applied_.of[int(r)] += applied;
    return applied;
  }
  constexpr bool apply(int v) {
    switch (w_[v].kind) {
      case op::relu:
      case op::relu6:
      case op::clip:
      case op::leaky_relu:
        return count(rule::clamp_within_bounds, clamp_within_bounds(w_, v)) ||
               count(rule::clamp_of_clamp, clamp_of_clamp(w_, v));
      case op::conv2d:
      case op::depthwise: return count(rule::pad_into_window, pad_into_window(w_, v));
      case op::max_pool:
        return count(rule::pad_into_window, pad_into_window(w_, v)) ||
               count(rule::clamp_after_pool, clamp_after_pool(w_, v));
      case op::global_max_pool:
        return count(rule::clamp_after_pool, clamp_after_pool(w_, v)) ||
               count(rule::global_of_max_pool, global_of_max_pool(w_, v));
      case op::avg_pool:
        return count(rule::pad_into_window, pad_into_window(w_, v)) ||
               (reassociates_ && count(rule::average_before_product, average_before_product(w_, v)));
      case op::global_avg_pool:
        return reassociates_ && (count(rule::average_before_product, average_before_product(w_, v)) ||
                                 count(rule::average_of_averages, average_of_averages(w_, v)));
      case op::add:
        return reassociates_ &&
               (count(rule::common_factor, common_factor(w_, v)) || count(rule::gates_first, gates_first(w_, v)));
      case op::mul: return reassociates_ && count(rule::gates_first, gates_first(w_, v));
      case op::matmul: return count(rule::matmul_of_transpose, matmul_of_transpose(w_, v));
      default: return apply_to_movement(v);
    }
  }
  constexpr bool apply_to_movement(int v) {
    switch (w_[v].kind) {
      case op::permute:
        return count(rule::permute_of_permute, permute_of_permute(w_, v)) ||
               count(rule::permute_is_reshape, permute_is_reshape(w_, v));
      case op::reshape:
        return count(rule::reshape_of_reshape, reshape_of_reshape(w_, v)) ||
               count(rule::part_of_constant, part_of_constant(w_, v));
      case op::slice:
        return count(rule::slice_of_slice, slice_of_slice(w_, v)) ||
               count(rule::slice_of_concat, slice_of_concat(w_, v)) ||
               count(rule::part_of_constant, part_of_constant(w_, v));
      case op::concat: return count(rule::concat_of_slices, concat_of_slices(w_, v));
      case op::channel_shuffle: return count(rule::shuffle_of_shuffle, undo(w_, v));
      case op::to_nchw: return count(rule::layout_round_trip, undo(w_, v));
      case op::fold:
      case op::unfold:
        return count(rule::fold_of_unfold, undo(w_, v)) || count(rule::permute_is_reshape, permute_is_reshape(w_, v));
      case op::pad: return count(rule::pad_of_pad, pad_of_pad(w_, v));
      case op::resize_nearest: return count(rule::resize_of_resize, resize_of_resize(w_, v));
      default: return false;
    }
  }

  rewriter<V, E, O> w_;
  bool reassociates_;
  rule_counts& applied_;
};

/// concat_of_concat: the concatenations that are read only by another one along the same axis.
template <int V>
struct nested_concats {
  array_of<bool, V> is{};

  template <int E, int O>
  constexpr explicit nested_concats(graph<V, E, O> const& g) {
    value_uses<V> const uses(g);
    for (int v = g.input_count; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count && g.nodes[v].kind == op::concat; ++k) {
        node const& inner = g.source(v, k);
        is[g.operand(v, k)] =
            inner.kind == op::concat && inner.axis == g.nodes[v].axis && uses.is_private(g.operand(v, k));
      }
  }
  /// Appends the operands of u to `edges` if u is nested, otherwise u itself.
  template <int E, int O>
  constexpr void append(graph<V, E, O> const& g, int u, int* edges, int& count) const {
    if (!is[u]) edges[count++] = u;
    for (int k = 0; is[u] && k < g.nodes[u].input_count; ++k) append(g, g.operand(u, k), edges, count);
  }
};

/// Makes concatenations read the operands of those nested in them. The edges fit in the same space: each moves once,
/// and the one to a nested concatenation is removed.
template <int V, int E, int O>
constexpr graph<V, E, O> flatten_concats(graph<V, E, O> const& g, rule_counts& applied) {
  nested_concats<V> const nested(g);
  graph<V, E, O> r = g;
  replacement<V> kept;
  r.edge_count = 0;
  for (int v = 0; v < g.node_count; ++v) {
    kept.keep[v] = !nested.is[v];
    applied.of[int(rule::concat_of_concat)] += nested.is[v];
    r.nodes[v].input_first = r.edge_count;
    for (int k = 0; kept.keep[v] && k < g.nodes[v].input_count; ++k)
      nested.append(g, g.operand(v, k), r.edges, r.edge_count);
    r.nodes[v].input_count = r.edge_count - r.nodes[v].input_first;
  }
  return rewritten(r, kept);
}

/// Applies the rules that `freedom` allows in one pass through the graph, and counts them in `applied`.
template <int V, int E, int O>
constexpr graph<V, E, O> simplify(graph<V, E, O> g, algebra freedom, rule_counts& applied) {
  passes::simplifier<V, E, O> rules(g, freedom, applied);
  for (int v = g.input_count; v < g.node_count; ++v) rules.visit(v);
  return flatten_concats(g, applied);
}

}  // namespace ago::passes
