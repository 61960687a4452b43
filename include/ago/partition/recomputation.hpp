// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that compute a value again instead of reading it: which values are stored, and the graph that results.
#pragma once

#include <ago/partition/dag.hpp>
#include <ago/passes/rewriting.hpp>

namespace ago::partition {

/// Which values of a graph are written to memory, and which only move through the registers of kernels. The kernel that
/// stores v computes before[...before[before[v]]], ..., before[v], v. Paths of several kernels may have the same
/// beginning: these operators are computed again in each of them.
template <int V>
struct kernel_paths {
  array_of<int, slots<V>> before{};  ///< the operand that comes from registers; -1: all of them come from memory
  array_of<bool, slots<V>> stored{};

  /// Every operator is a kernel of its own.
  template <int E, int O>
  constexpr explicit kernel_paths(graph<V, E, O> const& g) {
    for (int v = 0; v < g.node_count; ++v) {
      before[v] = -1;
      stored[v] = true;
    }
  }
};

/// The size of recomputed().
template <int V, int E, int O>
constexpr graph_size size_of_recomputed(graph<V, E, O> const& g, kernel_paths<V> const& kernels) {
  graph_size r{g.input_count, 0};
  for (int end = g.input_count; end < g.node_count; ++end)
    for (int v = kernels.stored[end] ? end : -1; v >= 0; v = kernels.before[v]) {
      ++r.nodes;
      r.edges += g.nodes[v].input_count;
    }
  return r;
}

/// A graph, and its operators grouped by kernel (operator i is node graph.input_count + i).
template <int V, int E, int O>
struct graph_of_kernels {
  ago::ir::graph<V, E, O> graph;
  grouping<V> kernels;
};

/// `g` with every operator once for each kernel that computes it. The values are the same, bit by bit. A kernel reads
/// only values stored by earlier ones, because its operators are recorded before its result: the kernels can run one
/// after another. `V2`, `E2`: at least size_of_recomputed().
template <int V2, int E2, int V, int E, int O>
constexpr graph_of_kernels<V2, E2, O> recomputed(graph<V, E, O> const& g, kernel_paths<V> const& kernels) {
  graph_of_kernels<V2, E2, O> r;
  graph<V2, E2, O>& to = r.graph;
  array_of<int, slots<V>> moved_to{}, path{};
  for (int end = 0; end < g.node_count; ++end) {
    if (!kernels.stored[end]) continue;
    int length = 0;
    for (int v = end; v >= 0; v = kernels.before[v]) path[length++] = v;
    while (length > 0) {
      int const v = path[--length];
      node n = g.nodes[v];
      n.input_first = to.edge_count;
      for (int k = 0; k < n.input_count; ++k) to.edges[to.edge_count++] = moved_to[g.operand(v, k)];
      moved_to[v] = to.node_count;
      if (end >= g.input_count) r.kernels.of[to.node_count - g.input_count] = r.kernels.count;
      to.nodes[to.node_count++] = n;
    }
    r.kernels.count += end >= g.input_count;
  }
  passes::finish_copy(to, g, moved_to);
  return r;
}

/// The operators of `g` grouped by kernel, if none is computed by several.
template <int V, int E, int O>
constexpr grouping<V> grouped_by_kernel(graph<V, E, O> const& g, kernel_paths<V> const& kernels) {
  array_of<int, slots<V>> rep{};
  for (int end = g.input_count; end < g.node_count; ++end)
    for (int v = kernels.stored[end] ? end : -1; v >= 0; v = kernels.before[v])
      rep[v - g.input_count] = end - g.input_count;
  return grouping_by<V>(rep, g.node_count - g.input_count);
}

}  // namespace ago::partition
