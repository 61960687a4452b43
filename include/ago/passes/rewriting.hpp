// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of graph passes: replacing and removing nodes.
#pragma once

#include <ago/passes/value_uses.hpp>

namespace ago::passes {

/// The same graph with other capacities, which must not be below its counts.
template <int V2, int E2, int O2, int V, int E, int O>
constexpr graph<V2, E2, O2> fit(graph<V, E, O> const& g) {
  graph<V2, E2, O2> fitted{};
  for (int v = 0; v < g.node_count; ++v) fitted.nodes[v] = g.nodes[v];
  for (int e = 0; e < g.edge_count; ++e) fitted.edges[e] = g.edges[e];
  for (int i = 0; i < g.output_count; ++i) fitted.outputs[i] = g.outputs[i];
  fitted.node_count = g.node_count;
  fitted.edge_count = g.edge_count;
  fitted.input_count = g.input_count;
  fitted.output_count = g.output_count;
  fitted.parameters = g.parameters;
  fitted.bad = g.bad;
  return fitted;
}

/// Gives a graph into which the nodes of `from` have been copied, to moved_to[v], what else `from` has: its outputs and
/// parameters.
template <int V2, int E2, int V, int E, int O>
constexpr void finish_copy(graph<V2, E2, O>& to, graph<V, E, O> const& from, int const* moved_to) {
  for (int i = 0; i < from.output_count; ++i) to.outputs[i] = moved_to[from.outputs[i]];
  to.output_count = from.output_count;
  to.input_count = from.input_count;
  to.parameters = from.parameters;
  to.bad = from.bad;
}

/// The replacement of each node: readers of v read `stands_for[v]` instead, initially v itself. An output that is kept
/// stays an output, even if its readers now read another node.
template <int V>
struct replacement {
  array_of<int, V> stands_for{};
  array_of<bool, V> keep{};

  constexpr replacement() {
    for (int v = 0; v < V; ++v) {
      stands_for[v] = v;
      keep[v] = true;
    }
  }
  /// Removes v; its readers read `other` instead, an earlier node that is kept.
  constexpr void replace(int v, int other) {
    stands_for[v] = other;
    keep[v] = false;
  }
};

/// The graph without the nodes that `r` does not keep; the order is unchanged.
template <int V, int E, int O>
constexpr graph<V, E, O> rewritten(graph<V, E, O> g, replacement<V> const& r) {
  array_of<int, V> moved_to{};
  int nodes = 0, edges = 0;
  for (int v = 0; v < g.node_count; ++v) {
    if (!r.keep[v]) continue;
    node n = g.nodes[v];
    int const first = n.input_first;
    n.input_first = edges;
    // Only edges of earlier nodes have been overwritten, because rows are in the order of their nodes.
    for (int k = 0; k < n.input_count; ++k) g.edges[edges++] = moved_to[r.stands_for[g.edges[first + k]]];
    moved_to[v] = nodes;
    g.nodes[nodes++] = n;
  }
  for (int i = 0; i < g.output_count; ++i) {
    int const v = g.outputs[i];
    g.outputs[i] = moved_to[r.keep[v] ? v : r.stands_for[v]];
  }
  g.node_count = nodes;
  g.edge_count = edges;
  return g;
}

}  // namespace ago::passes
