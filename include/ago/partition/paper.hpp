// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AGO as published: Algorithm 1 on single operators, SPLIT by the same algorithm, intensive fusion inside subgraphs.
#pragma once

#include <ago/partition/partition.hpp>

namespace ago {

/// Subgraphs by CLUSTER on operators, and mini-subgraphs of at most one complex operator by CLUSTER inside each (AGO,
/// sections IV and V); `reading` selects the affix set of both. Chains join mini-subgraphs of one subgraph where
/// kernels can compute them in one pass and traffic is saved. `limit` is Td in thousandths; 0: `default_limit`.
template <int V, int E, int O>
constexpr partitions<V> paper_partition(graph<V, E, O> const& g, affix reading = affix::component, long limit = 0,
                                        device const& on = {}) {
  dag<V, E> const operators = dag_of(g);
  if (limit <= 0) {
    grouping<V> const atoms = atoms_of(g);
    limit = default_limit(g, atoms, quotient(operators, atoms));
  }
  grouping<V> const subgraphs = cluster(operators, limit, INT_MAX, reading);
  grouping<V> const minis = split_by_cluster(operators, subgraphs, reading);
  partitions<V> r = ordered(g, operators, subgraphs, minis);
  grouping<V> const pieces = atoms_of(g, &minis);  // the parts of mini-subgraphs that one kernel can compute
  grouping<V> const chains = chains_of(g, pieces, on, &subgraphs);
  for (int v = 0; v < g.node_count; ++v)
    r.chain_of[v] = v < g.input_count ? -1 : chains.of[pieces.of[v - g.input_count]];
  return r;
}

}  // namespace ago
