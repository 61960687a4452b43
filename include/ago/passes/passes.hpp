// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph passes: graph in, graph out, with the same values at the outputs. They work at compile time and at run time.
// All keep topological order, the inputs, and the offsets of parameters; outputs stay distinct and are never inputs.
#pragma once

#include <ago/passes/rewriting.hpp>
#include <ago/passes/simplify.hpp>

namespace ago::passes {

/// Removes operators that no output depends on. Inputs stay, because they are part of the model's interface.
template <int V, int E, int O>
constexpr graph<V, E, O> dead_code(graph<V, E, O> g) {
  replacement<V> r;
  for (int v = g.input_count; v < g.node_count; ++v) r.keep[v] = false;
  for (int i = 0; i < g.output_count; ++i) r.keep[g.outputs[i]] = true;
  for (int v = g.node_count; v-- > 0;)
    for (int k = 0; r.keep[v] && k < g.nodes[v].input_count; ++k) r.keep[g.operand(v, k)] = true;
  return rewritten(g, r);
}

/// Does node v return the elements of its operand unchanged, in the same order in memory?
template <int V, int E, int O>
constexpr bool is_identity(graph<V, E, O> const& g, int v) {
  node const& n = g.nodes[v];
  switch (n.kind) {
    case op::identity: return true;
    case op::concat: return n.input_count == 1;
    case op::max_pool:
    case op::avg_pool: return n.win.is_identity();
    case op::global_max_pool:
    case op::global_avg_pool:
    case op::reduce_sum:
    case op::reduce_mean:
    case op::reduce_max:
    case op::reduce_min:
    case op::reduce_product:
    case op::reshape:
    case op::resize_nearest:
    case op::resize_bilinear:
    case op::unfold:
    case op::fold:
    case op::expand:
    case op::pad: return g.source(v).out == n.out;
    case op::slice: return g.source(v).out == n.out && n.step > 0;
    case op::channel_shuffle: return n.groups == 1 || n.groups == n.out.c;
    case op::permute: return keeps_order(g.source(v).out, n) && g.source(v).out == n.out;
    case op::from_nchw:
    case op::to_nchw: return n.out.c == 1 || n.out.h * n.out.w == 1;
    default: return false;
  }
}

/// Turns node v into a copy of node `source`.
template <int V, int E, int O>
constexpr void become_copy(graph<V, E, O>& g, int v, int source) {
  node& n = g.nodes[v];
  g.edges[n.input_first] = source;
  n = node{.kind = op::identity,
           .out = n.out,
           .input_first = n.input_first,
           .input_count = 1,
           .layer = n.layer,
           .line = n.line,
           .name = n.name};
}

/// Removes operators without effect: identities, windows of one pixel, reorderings of one channel or one pixel.
/// Where an output would become an input or another output, an op::identity stays, which copies into the user's memory.
template <int V, int E, int O>
constexpr graph<V, E, O> remove_identities(graph<V, E, O> g) {
  replacement<V> r;
  array_of<bool, V> taken{};  // inputs and outputs, which cannot become another output
  for (int v = 0; v < g.input_count; ++v) taken[v] = true;
  for (int i = 0; i < g.output_count; ++i) taken[g.outputs[i]] = true;
  value_uses<V> const uses(g);
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (!passes::is_identity(g, v)) continue;
    int const source = r.stands_for[g.operand(v)];
    if (!uses.is_output[v]) {
      r.replace(v, source);
    } else if (!taken[source]) {
      taken[source] = true;
      r.replace(v, source);
    } else {
      become_copy(g, v, g.operand(v));
    }
  }
  return rewritten(g, r);
}

/// Is it the same operator on the same values? The operands in g have already been replaced.
template <int V, int E, int O>
constexpr bool same_value(graph<V, E, O> const& g, int a, int b) {
  node const &x = g.nodes[a], &y = g.nodes[b];
  if (!same_operator(x, y) || x.weight != y.weight || x.shift != y.shift || x.norm != y.norm) return false;
  bool straight = true;
  for (int k = 0; k < x.input_count; ++k) straight = straight && g.operand(a, k) == g.operand(b, k);
  return straight || (commutes(x.kind) && g.operand(a, 0) == g.operand(b, 1) && g.operand(a, 1) == g.operand(b, 0));
}

/// Computes equal values once. The second of two equal outputs becomes an op::identity of the first.
template <int V, int E, int O>
constexpr graph<V, E, O> common_subexpressions(graph<V, E, O> g) {
  replacement<V> r;
  value_uses<V> uses(g);
  // Equal nodes share their operands, so each is compared only with earlier ones that have the same last-recorded one.
  array_of<int, V> newest{}, older{};
  for (int v = 0; v < V; ++v) newest[v] = -1;
  for (int v = g.input_count; v < g.node_count; ++v) {
    node& n = g.nodes[v];
    int shared = n.input_count > 0 ? 0 : v;
    for (int k = 0; k < n.input_count; ++k) {
      int& operand = g.edges[n.input_first + k];
      operand = r.stands_for[operand];
      shared = operand > shared ? operand : shared;
    }
    int twin = newest[shared];
    while (twin >= 0 && !same_value(g, v, twin)) twin = older[twin];
    if (twin < 0) {
      older[v] = newest[shared];
      newest[shared] = v;
    } else if (!uses.is_output[v] || !uses.is_output[twin]) {
      uses.is_output[twin] = uses.is_output[twin] || uses.is_output[v];
      r.replace(v, twin);
    } else {
      r.stands_for[v] = twin;
      become_copy(g, v, twin);
    }
  }
  return rewritten(g, r);
}

/// Folds batch norm into the convolution before it, unless something else reads the value in between:
/// conv -> batch_norm         becomes conv{norm} -> bias{norm},
/// conv -> bias -> batch_norm becomes conv{norm} -> bias{shift, norm}.
/// The arithmetic is done when the weights are packed: scale = gamma / sqrt(variance + epsilon) multiplies the
/// weights, and the bias becomes (shift - mean) * scale + beta.
template <int V, int E, int O>
constexpr graph<V, E, O> fold_batch_norm(graph<V, E, O> g) {
  replacement<V> r;
  value_uses<V> const uses(g);
  for (int v = g.input_count; v < g.node_count; ++v) {
    node& norm = g.nodes[v];
    if (norm.kind != op::batch_norm) continue;
    int const before = g.operand(v);
    bool const has_bias = g.nodes[before].kind == op::bias;
    int const conv = has_bias ? g.operand(before) : before;
    if (!has_weights(g.nodes[conv].kind) || g.nodes[conv].norm >= 0 || g.nodes[conv].is_merged()) continue;
    if (!uses.is_private(conv) || !uses.is_private(before)) continue;

    g.nodes[conv].norm = norm.norm;
    g.nodes[conv].alpha = norm.alpha;
    if (has_bias) {
      g.nodes[before].norm = norm.norm;
      g.nodes[before].alpha = norm.alpha;
      r.replace(v, before);
    } else {
      norm.kind = op::bias;
    }
  }
  return rewritten(g, r);
}

/// Removes dead code, identities and common subexpressions. A second round would find nothing.
template <int V, int E, int O>
constexpr graph<V, E, O> cleaned(graph<V, E, O> const& g) {
  return common_subexpressions(remove_identities(dead_code(g)));
}

/// A graph while rules are applied to it, and how often each has been.
template <class Graph>
struct simplification {
  Graph graph;
  rule_counts applied{};
  bool changed{};  ///< by the last round, so that another one may find more

  constexpr void next_round(algebra freedom) {
    int const before = applied.total();
    graph = simplify(graph, freedom, applied);
    changed = applied.total() != before;
    if (changed) graph = cleaned(graph);
  }
};

/// Applies all passes until none changes anything. `applied` accumulates how often each algebraic rule was applied.
///
/// It terminates: if every value is written out as a tree of operators down to the inputs, no rule enlarges the tree of
/// any value, and each rule either shrinks the tree of the value it is applied to, or reduces the number of pixels
/// computed for it.
template <int V, int E, int O>
constexpr graph<V, E, O> optimize(graph<V, E, O> const& g, algebra freedom, rule_counts& applied) {
  simplification<graph<V, E, O>> s{cleaned(g), applied, freedom != algebra::literal};
  while (s.changed) s.next_round(freedom);
  applied = s.applied;
  return fold_batch_norm(s.graph);
}
template <int V, int E, int O>
constexpr graph<V, E, O> optimize(graph<V, E, O> const& g, algebra freedom = algebra::exact) {
  rule_counts applied;
  return optimize(g, freedom, applied);
}

}  // namespace ago::passes
