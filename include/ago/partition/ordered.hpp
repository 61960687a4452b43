// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of operators in execution order.
#pragma once

#include <ago/partition/order.hpp>

namespace ago::partition {

/// Clusters of operators, numbered in execution order.
template <int V>
struct ordered_clusters {
  array_of<int, slots<V>> of{};     ///< cluster of each node; -1: an input
  array_of<int, slots<V>> order{};  ///< operators (node numbers), cluster by cluster, each operator after its operands
  int count{};                      ///< clusters
  int operators{};
  bool acyclic{};  ///< the clusters can run one after another
};

/// A network's subgraphs and their mini-subgraphs. Both have the same `order`; the mini-subgraphs of a subgraph are
/// consecutive.
template <int V>
struct partitions {
  ordered_clusters<V> subgraphs, minis;
  array_of<int, V> chain_of{};  ///< chain of each node, computed in one pass; -1: an input
  bool intensive = true;  ///< may several kernels of a subgraph run as one pipeline? If so, a schedule may ask for it
};

/// The same partitions with another capacity, which the nodes must fit.
template <int V2, int V>
constexpr partitions<V2> fit(partitions<V> const& p) {
  auto const fitted = [](ordered_clusters<V> const& from) {
    ordered_clusters<V2> to;
    for (int v = 0; v < V2 && v < V; ++v) {
      to.of[v] = from.of[v];
      to.order[v] = from.order[v];
    }
    to.count = from.count;
    to.operators = from.operators;
    to.acyclic = from.acyclic;
    return to;
  };
  partitions<V2> r{fitted(p.subgraphs), fitted(p.minis)};
  for (int v = 0; v < V2 && v < V; ++v) r.chain_of[v] = p.chain_of[v];
  r.intensive = p.intensive;
  return r;
}

/// Orders subgraphs, chains within them, and mini-subgraphs within chains. All group the operators of `g`, whose graph
/// is `d`; every mini-subgraph must lie within one chain, and every chain within one subgraph. Of the clusters that are
/// ready, those with operators recorded early go first.
template <int V, int E, int O>
constexpr partitions<V> ordered(graph<V, E, O> const& g, dag<V, E> const& d, grouping<V> const& subgraphs,
                                grouping<V> const& chains, grouping<V> const& minis) {
  partitions<V> r;
  execution_order<V> const outer = order_of(quotient(d, subgraphs));
  array_of<int, slots<V>> place{}, rank{}, number{};
  for (int i = 0; i < outer.count; ++i) place[outer.order[i]] = i;
  for (int v = 0; v < d.count; ++v) rank[chains.of[v]] = place[subgraphs.of[v]];
  execution_order<V> const middle = order_of(quotient(d, chains), rank);
  array_of<int, slots<V>> chain_place{};
  for (int i = 0; i < middle.count; ++i) chain_place[middle.order[i]] = i;
  for (int v = 0; v < d.count; ++v) rank[minis.of[v]] = chain_place[chains.of[v]];
  execution_order<V> const inner = order_of(quotient(d, minis), rank);
  for (int i = 0; i < inner.count; ++i) number[inner.order[i]] = i;

  array_of<int, slots<V> + 1> end{};  // end of each mini-subgraph's operators in `order`
  for (int v = 0; v < d.count; ++v) ++end[number[minis.of[v]] + 1];
  for (int i = 0; i < minis.count; ++i) end[i + 1] += end[i];
  for (int v = 0; v < g.input_count; ++v) r.subgraphs.of[v] = r.minis.of[v] = -1;
  for (int v = 0, base = g.input_count; v < d.count; ++v) {
    r.subgraphs.of[base + v] = place[subgraphs.of[v]];
    r.minis.of[base + v] = number[minis.of[v]];
    int const at = end[number[minis.of[v]]]++;
    r.subgraphs.order[at] = r.minis.order[at] = base + v;
  }
  r.subgraphs.count = subgraphs.count;
  r.minis.count = minis.count;
  r.subgraphs.operators = r.minis.operators = d.count;
  r.subgraphs.acyclic = outer.acyclic;
  r.minis.acyclic = inner.acyclic;
  return r;
}
/// The same without chains.
template <int V, int E, int O>
constexpr partitions<V> ordered(graph<V, E, O> const& g, dag<V, E> const& d, grouping<V> const& subgraphs,
                                grouping<V> const& minis) {
  return ordered(g, d, subgraphs, subgraphs, minis);
}

}  // namespace ago::partition

namespace ago {
using partition::partitions;
}  // namespace ago
