// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Policies that look into compound operators: these are opened for partitioning, and closed again where they were not
// cut.
#pragma once

#include <ago/graph/opening.hpp>
#include <ago/graph/rewriting.hpp>
#include <ago/partition/policy.hpp>

namespace ago {

/// Which operators a policy opens. This library's policy keeps compound operators whole, as it does epilogues; Apollo
/// opens all of them; TVM's Relay, whose graphs FuseOps and the published AGO partition, has softmax as one operator.
constexpr opening opened_by(policy p) {
  switch (p) {
    case policy::ago:
    case policy::ago_ni: return {false, false, false};
    case policy::paper:
    case policy::paper_adjacent:
    case policy::fuse_ops: return {.softmax = false};
    case policy::apollo: return {.softmax = true};
  }
  detail::no_case_for_this_value();
}

/// Does the policy open any operator of `g`?
template <int V, int E, int O>
constexpr bool opens_any(graph<V, E, O> const& g, policy p) {
  return size_of_opened(g, opened_by(p)).nodes > g.node_count;
}

/// A graph with its partition.
template <int V, int E, int O>
struct partitioned_graph {
  ago::graph<V, E, O> graph;
  partitions<V> partition;
};

namespace detail {

/// Td of the opened `g`: default_limit, with primitives in place of operators. Atoms are those of `g`, since the
/// triples that must not be cut do not depend on what is opened.
template <int V, int E, int V2, int E2, int O>
constexpr long limit_of_opened(graph<V, E, O> const& g, opened_graph<V2, E2, O> const& all) {
  grouping<V> const atoms = atoms_of(g);
  dag<V, E> weighted;
  for (int i = g.input_count; i < all.graph.node_count; ++i)
    weighted.weight[atoms.of[all.compound[i] - g.input_count]] += weight_of(all.graph, i);
  return default_limit(g, atoms, weighted);
}

/// The partition of `all`, which is `g` opened. The published AGO uses the same Td as this library's policy.
template <policy P, int V, int E, int V2, int E2, int O>
constexpr partitions<V2> partition_primitives(graph<V, E, O> const& g, opened_graph<V2, E2, O> const& all,
                                              device const& on) {
  if constexpr (P == policy::paper || P == policy::paper_adjacent)
    return paper_partition(all.graph, P == policy::paper ? affix::component : affix::adjacent, limit_of_opened(g, all),
                           on);
  else
    return partition_by<P>(all.graph, on);
}

/// The compound operators whose primitives are in several groups of `minis`.
template <int V>
struct torn {
  bool of[V > 0 ? V : 1]{};
};
template <int V, int V2, int E2, int O>
constexpr torn<V> torn_by(partition<V2> const& minis, opened_graph<V2, E2, O> const& all) {
  torn<V> r;
  for (int i = all.graph.input_count + 1; i < all.graph.node_count; ++i)
    if (all.compound[i] == all.compound[i - 1] && minis.of[i] != minis.of[i - 1]) r.of[all.compound[i]] = true;
  return r;
}

/// The partition `p` of `from`, transferred to `to`, another opening of the same graph. An operator that is whole in
/// only one of them counts as its last primitive in the other.
template <int V, int E, int O>
constexpr partitions<V> carried_over(partitions<V> const& p, opened_graph<V, E, O> const& from,
                                     opened_graph<V, E, O> const& to) {
  graph<V, E, O> const& g = to.graph;
  int last[V > 0 ? V : 1]{}, primitives[V > 0 ? V : 1]{};  // of each operator of the closed graph, in `from`
  for (int i = 0; i < from.graph.node_count; ++i) {
    last[from.compound[i]] = i;
    ++primitives[from.compound[i]];
  }
  grouping<V> subgraphs, minis;
  subgraphs.count = p.subgraphs.count;
  minis.count = p.minis.count;
  int chain_of[V > 0 ? V : 1]{};
  for (int j = g.node_count - 1, left = 0; j >= 0; --j) {  // left: primitives of the same operator after j
    int const v = to.compound[j];
    left = j + 1 < g.node_count && to.compound[j + 1] == v ? left + 1 : 0;
    int const i = left < primitives[v] ? last[v] - left : last[v];
    chain_of[j] = p.chain_of[i];
    if (j < g.input_count) continue;
    subgraphs.of[j - g.input_count] = p.subgraphs.of[i];
    minis.of[j - g.input_count] = p.minis.of[i];
  }
  partitions<V> r = ordered(g, dag_of(g), subgraphs, minis);
  for (int j = 0; j < g.node_count; ++j) r.chain_of[j] = chain_of[j];
  return r;
}

}  // namespace detail

/// The partition of `g` by policy `P`, which sees it opened, and the graph that it partitions: `g`, opened where
/// primitives of one compound operator are in several mini-subgraphs. All other compound operators are computed whole,
/// by their own kernels. `V2`, `E2`: at least size_of_opened().
template <policy P, int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_opened(graph<V, E, O> const& g, device const& on = {}) {
  auto const all = opened<V2, E2>(g, opened_by(P));
  if (!opens_any(g, P)) return {all.graph, partition_by<P>(all.graph, on)};
  partitions<V2> const p = detail::partition_primitives<P>(g, all, on);
  auto const closed = opened<V2, E2>(g, opened_by(P), detail::torn_by<V>(p.minis, all).of);
  return {closed.graph, detail::carried_over(p, all, closed)};
}

/// The partition of `g` by policy `P`, and the graph that it partitions: always `g` with all compound operators opened,
/// whatever the policy opens, so that figures of different policies refer to the same operators.
template <policy P, int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_of_primitives(graph<V, E, O> const& g, device const& on = {}) {
  auto const seen = opened<V2, E2>(g, opened_by(P)), finest = opened<V2, E2>(g, {});
  return {finest.graph, detail::carried_over(detail::partition_primitives<P>(g, seen, on), seen, finest)};
}

/// Both, by a policy chosen at run time.
template <int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_opened(policy p, graph<V, E, O> const& g, device const& on = {}) {
  return detail::with_policy(p, [&]<policy P>() { return partition_opened<P, V2, E2>(g, on); });
}
template <int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_of_primitives(policy p, graph<V, E, O> const& g,
                                                               device const& on = {}) {
  return detail::with_policy(p, [&]<policy P>() { return partition_of_primitives<P, V2, E2>(g, on); });
}

/// Likewise for a graph known at compile time: `graph`, exactly sized, and `partition`.
template <auto const& G, policy P, device On>
struct partitioned {
 private:
  static constexpr opened_size size = size_of_opened(G, opened_by(P));
  static constexpr auto roomy = partition_opened<P, size.nodes, size.edges>(G, On);

 public:
  static constexpr auto graph =
      fit<roomy.graph.node_count, roomy.graph.edge_count, roomy.graph.output_count>(roomy.graph);
  static constexpr auto partition = fit<roomy.graph.node_count>(roomy.partition);
};
template <auto const& G, policy P, device On>
  requires(!opens_any(G, P))
struct partitioned<G, P, On> {
  static constexpr auto const& graph = G;
  static constexpr auto partition = partition_by<P>(G, On);
};

}  // namespace ago
