// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPLIT: divides subgraphs into mini-subgraphs of at most one complex operator (AGO section V).
#pragma once

#include <ago/partition/cluster.hpp>

namespace ago::partition {

/// SPLIT by CLUSTER: Algorithm 1 on the edges inside subgraphs, with at most one complex operator per group.
template <int V, int E>
constexpr grouping<V> split_by_cluster(dag<V, E> const& d, grouping<V> const& subgraphs,
                                       affix reading = affix::adjacent) {
  return cluster(inside(d, subgraphs), LONG_MAX, 1, reading);
}

/// SPLIT by epilogues: a node for which `starts` is true begins a mini-subgraph. Any other node joins that of its first
/// predecessor, in operand order, that it can join without a cycle; if there is none, it begins one. `starts` must be
/// true for complex operators.
template <int V, int E>
constexpr grouping<V> split_by_epilogue(dag<V, E> const& d, grouping<V> const& subgraphs, bool const* starts) {
  dag<V, E> const inner = inside(d, subgraphs);
  contraction<V, E> c(inner);
  execution_order<V> const sorted = order_of(inner);
  for (int i = 0; i < sorted.count; ++i) {
    int const v = sorted.order[i];
    if (starts[v]) continue;
    for (int e = inner.first[v]; e < inner.first[v + 1]; ++e) {
      int const group = c.find(inner.source[e]);
      if (c.has_detour(group, v)) continue;
      c.absorb(group, v);
      break;
    }
  }
  return c.groups(d.count);
}

/// Likewise, with mini-subgraphs that begin at complex operators.
template <int V, int E>
constexpr grouping<V> split_by_epilogue(dag<V, E> const& d, grouping<V> const& subgraphs) {
  array_of<bool, slots<V>> starts{};
  for (int v = 0; v < d.count; ++v) starts[v] = d.complex[v] > 0;
  return split_by_epilogue(d, subgraphs, starts);
}

}  // namespace ago::partition
