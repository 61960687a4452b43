// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs inside given subgraphs.
#pragma once

#include <ago/partition/chains.hpp>
#include <ago/partition/ordered.hpp>

namespace ago {

/// The partitions of a network into these subgraphs of its operators (operator i is node g.input_count + i): the
/// mini-subgraphs are the parts that one kernel computes; of these, the chains that save the most time within the
/// caches of `on` are computed in one pass. The subgraphs must be able to run one after another.
template <int V, int E, int O>
constexpr partitions<V> partition_into(graph<V, E, O> const& g, grouping<V> const& subgraphs, device const& on) {
  grouping<V> const minis = atoms_of(g, subgraphs);
  dag<V, E> const operators = dag_of(g);
  grouping<V> const chains = compose(minis, chains_of(g, minis, on, subgraphs), operators.count);
  partitions<V> r = ordered(g, operators, subgraphs, chains, minis);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = v < g.input_count ? -1 : chains.of[v - g.input_count];
  return r;
}

}  // namespace ago
