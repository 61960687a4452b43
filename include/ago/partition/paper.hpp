// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AGO as published: Algorithm 1 on single operators, SPLIT by the same algorithm, intensive fusion inside subgraphs.
#pragma once

#include <ago/partition/partition.hpp>
#include <ago/passes/opening.hpp>

namespace ago::partition {

/// `r` with chains that join mini-subgraphs of one subgraph.
template <int V, int E, int O>
constexpr partitions<V> with_chains(partitions<V> r, graph<V, E, O> const& g, grouping<V> const& subgraphs,
                                    grouping<V> const& minis, device const& on) {
  grouping<V> const pieces = atoms_of(g, minis);  // the parts of mini-subgraphs that one kernel can compute
  grouping<V> const chains = chains_of(g, pieces, on, subgraphs);
  for (int v = 0; v < g.node_count; ++v)
    r.chain_of[v] = v < g.input_count ? -1 : chains.of[pieces.of[v - g.input_count]];
  return r;
}

/// Subgraphs by CLUSTER on operators, and mini-subgraphs of at most one complex operator by CLUSTER inside each (AGO,
/// sections IV and V); `reading` selects the affix set of both. Chains join mini-subgraphs of one subgraph where
/// kernels can compute them in one pass and traffic is saved. `limit` is Td in thousandths.
template <int V, int E, int O>
constexpr partitions<V> paper_partition(graph<V, E, O> const& g, affix reading = affix::component,
                                        long limit = default_limit, device const& on = {}) {
  dag<V, E> const operators = dag_of(g);
  grouping<V> const subgraphs = cluster(operators, limit, INT_MAX, reading);
  grouping<V> const minis = split_by_cluster(operators, subgraphs, reading);
  return with_chains(ordered(g, operators, subgraphs, minis), g, subgraphs, minis, on);
}

/// paper_partition in several constant evaluations.
template <auto const& G, device On, affix Reading>
struct published_phases {
 private:
  static constexpr auto operators = dag_of(G);
  static constexpr auto const& subgraphs = cluster_phases<operators, default_limit, INT_MAX, Reading>::groups;
  static constexpr auto within = inside(operators, subgraphs);
  static constexpr auto const& minis = cluster_phases<within, LONG_MAX, 1, Reading>::groups;
  static constexpr auto order = ordered(G, operators, subgraphs, minis);

 public:
  static constexpr auto partition = with_chains(order, G, subgraphs, minis, On);
};

/// AGO as published, with one reading of the affix set. Its graphs are Relay's, in which softmax is one operator. Td is
/// default_limit.
template <affix Reading>
struct published_policy {
  static constexpr opening opens{.softmax = false};
  static constexpr auto partition(auto const& g, device const& on) {
    return paper_partition(g, Reading, default_limit, on);
  }
  template <auto const& G, device On>
  using phases = published_phases<G, On, Reading>;
};

/// AGO's Algorithm 1 with the affix set of Definition 3, taken literally.
struct paper_policy : published_policy<affix::component> {
  static constexpr char const* name = "paper";
  static constexpr int most_operators = 2'000;
};
/// Likewise, but only neighbours are contracted.
struct paper_adjacent_policy : published_policy<affix::adjacent> {
  static constexpr char const* name = "paper-adjacent";
};

}  // namespace ago::partition
