// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training step whose backward part reads copies of values of the forward part: they are computed again, so that no
// memory holds them between.
#pragma once

#include <ago/partition/dag.hpp>
#include <ago/passes/rewriting.hpp>

namespace ago::learning {

/// When the values of the forward part, the first `F` nodes of a training step, are needed after it; first -1: never.
template <int F>
struct later_needs {
  int first[slots<F>]{}, last[slots<F>]{};

  constexpr later_needs() {
    for (int& f : first) f = -1;
  }
  /// By the backward part, whose nodes have the times from `begin` to `end`.
  template <int V, int E, int O>
  constexpr later_needs(graph<V, E, O> const& g, int const* begin, int const* end) : later_needs() {
    for (int v = F; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count; ++k)
        if (int const u = g.operand(v, k); u < F) note(u, begin[v], end[v]);
  }
  constexpr bool any(int v) const { return first[v] >= 0; }
  constexpr void note(int v, int from, int to) {
    if (first[v] < 0 || from < first[v]) first[v] = from;
    if (to > last[v]) last[v] = to;
  }
  /// Adds the operands of what is computed again. Values that are `dropped`, not kept for later, are computed again at
  /// the time of their first need.
  template <int V, int E, int O>
  constexpr void add_operands(graph<V, E, O> const& g, bool const (&dropped)[slots<F>]) {
    for (int v = F; v-- > g.input_count;) {
      if (!dropped[v] || first[v] < 0) continue;
      int const t = first[v];
      for (int e = g.nodes[v].input_first, last = e + g.nodes[v].input_count; e < last; ++e) note(g.edges[e], t, t);
    }
  }
};

/// The values that are computed again, in the order of their first readers in the backward part.
template <int V, int F>
struct copy_order {
  int first[slots<V>]{};  ///< what is computed again before each node: first[v], next[first[v]] ...; -1: no more
  int next[slots<F>]{};
  graph_size added{};

  template <int E, int O>
  constexpr copy_order(graph<V, E, O> const& g, bool const (&dropped)[slots<F>]) {
    int place[slots<V>]{};
    for (int v = 0; v < g.node_count; ++v) {
      place[v] = v;
      first[v] = -1;
    }
    later_needs<F> needs(g, place, place);
    needs.add_operands(g, dropped);
    for (int v = F; v-- > g.input_count;) {
      if (!dropped[v] || !needs.any(v)) continue;
      next[v] = first[needs.first[v]];
      first[needs.first[v]] = v;
      ++added.nodes;
      added.edges += g.nodes[v].input_count;
    }
  }
};

/// `g` with these copies, each right before its first reader. The values are the same, but for what rounding differs
/// between kernels. `V2`, `E2`: at least those of g and `copies.added`.
template <int V2, int E2, int F, int V, int E, int O>
constexpr graph<V2, E2, O> with_copies(graph<V, E, O> const& g, copy_order<V, F> const& copies) {
  graph<V2, E2, O> r{};
  int moved_to[slots<V>]{}, copy[slots<V>]{};  // copy: plus one
  auto const append = [&](int v, bool reads_copies) {
    node n = g.nodes[v];
    n.input_first = r.edge_count;
    for (int k = 0; k < n.input_count; ++k) {
      int const u = g.operand(v, k);
      r.edges[r.edge_count++] = reads_copies && copy[u] > 0 ? copy[u] - 1 : moved_to[u];
    }
    r.nodes[r.node_count] = n;
    return r.node_count++;
  };
  for (int v = 0; v < g.node_count; ++v) {
    for (int u = copies.first[v]; u >= 0; u = copies.next[u]) copy[u] = append(u, true) + 1;
    moved_to[v] = append(v, v >= F);
  }
  finish_copy(r, g, moved_to);
  return r;
}

}  // namespace ago::learning
