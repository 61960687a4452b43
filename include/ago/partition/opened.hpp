// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Policies that look into compound operators: these are opened for partitioning, and closed again where they were not
// cut.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/partition/policy.hpp>
#include <ago/passes/opening.hpp>
#include <ago/passes/rewriting.hpp>

namespace ago::partition {

/// Does the policy open any operator of `g`?
template <class Policy, int V, int E, int O>
constexpr bool opens_any(graph<V, E, O> const& g) {
  return size_of_opened(g, opened_by<Policy>).nodes > g.node_count;
}

/// The size of the graph that a policy partitions: exact if the policy has operators computed again, otherwise an upper
/// bound. `V2`, `E2`: at least size_of_opened().
template <class Policy, int V2, int E2, int V, int E, int O>
constexpr graph_size size_of_partitioned(graph<V, E, O> const& g, device const& on) {
  if constexpr (recomputes<Policy>) {
    auto const all = opened<V2, E2>(g, opened_by<Policy>);
    return size_of_recomputed(all.graph, Policy::kernels(all.graph, on));
  } else {
    return size_of_opened(g, opened_by<Policy>);
  }
}

/// A graph with its partition.
template <int V, int E, int O>
struct partitioned_graph {
  ago::ir::graph<V, E, O> graph;
  partitions<V> partition;
};

/// The partition of `all`, which is `g` opened.
template <class Policy, int V, int E, int V2, int E2, int O>
constexpr partitions<V2> partition_primitives(graph<V, E, O> const& g, opened_graph<V2, E2, O> const& all,
                                              device const& on) {
  if constexpr (requires { Policy::partition_opened(g, all, on); }) return Policy::partition_opened(g, all, on);
  else return partition_by<Policy>(all.graph, on);
}

/// The compound operators whose primitives are in several groups of `minis`.
template <int V>
struct torn {
  array_of<bool, V> of{};
};
template <int V, int V2, int E2, int O>
constexpr torn<V> torn_by(ordered_clusters<V2> const& minis, opened_graph<V2, E2, O> const& all) {
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
  array_of<int, V> last{}, primitives{};  // of each operator of the closed graph, in `from`
  for (int i = 0; i < from.graph.node_count; ++i) {
    last[from.compound[i]] = i;
    ++primitives[from.compound[i]];
  }
  grouping<V> subgraphs, minis;
  subgraphs.count = p.subgraphs.count;
  minis.count = p.minis.count;
  array_of<int, V> chain_of{};
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
  grouping<V> const chains = grouping_by<V>(chain_of + g.input_count, g.node_count - g.input_count);
  for (int j = 0; j < g.node_count; ++j) r.chain_of[j] = j < g.input_count ? -1 : chains.of[j - g.input_count];
  r.intensive = p.intensive;
  return r;
}

/// partition_primitives of a graph known at compile time; `Primitives` is All.graph.
template <class Policy, auto const& G, auto const& All, auto const& Primitives, device On>
inline constexpr auto partition_of_opened = []() AGO_CONSTEVAL {
  if constexpr (requires { typename Policy::template phases_opened<G, All, Primitives, On>; })
    return Policy::template phases_opened<G, All, Primitives, On>::partition;
  else if constexpr (requires { Policy::partition_opened(G, All, On); }) return Policy::partition_opened(G, All, On);
  else return partition_in_phases<Policy, Primitives, On>;
}();

/// `g`, opened where `minis` have torn an operator of `all`.
template <class Policy, int V, int E, int V2, int E2, int O>
constexpr opened_graph<V2, E2, O> opened_where_torn(graph<V, E, O> const& g, opened_graph<V2, E2, O> const& all,
                                                    ago::partition::ordered_clusters<V2> const& minis) {
  return opened<V2, E2>(g, opened_by<Policy>, torn_by<V>(minis, all).of);
}

/// The partition of `g` by a policy that has operators computed again, and the graph in which they are.
template <class Policy, int V2, int E2, int V, int E, int O>
  requires recomputes<Policy>
constexpr partitioned_graph<V2, E2, O> partition_recomputed(graph<V, E, O> const& g, device const& on) {
  auto const all = opened<V2, E2>(g, opened_by<Policy>);
  auto const again = recomputed<V2, E2>(all.graph, Policy::kernels(all.graph, on));
  return {again.graph, Policy::partition_kernels(again.graph, again.kernels, on)};
}

/// The partition of `g` by a policy, which sees it opened, and the graph that it partitions: `g`, opened where
/// primitives of one compound operator are in several mini-subgraphs. All other compound operators are computed whole,
/// by their own kernels. If the policy has operators computed again, they occur several times, and what it opens stays
/// open. `V2`, `E2`: at least size_of_opened() and size_of_partitioned().
template <class Policy, int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_opened(graph<V, E, O> const& g, device const& on = {}) {
  if constexpr (recomputes<Policy>) {
    return partition_recomputed<Policy, V2, E2>(g, on);
  } else {
    auto const all = opened<V2, E2>(g, opened_by<Policy>);
    if (!opens_any<Policy>(g)) return {all.graph, partition_by<Policy>(all.graph, on)};
    partitions<V2> const p = partition_primitives<Policy>(g, all, on);
    auto const closed = opened_where_torn<Policy>(g, all, p.minis);
    return {closed.graph, carried_over(p, all, closed)};
  }
}

/// The partition of `g` by a policy, and the graph that it partitions: always `g` with all compound operators opened,
/// whatever the policy opens, so that figures of different policies refer to the same operators. What a policy has
/// computed again counts again.
template <class Policy, int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_of_primitives(graph<V, E, O> const& g, device const& on = {}) {
  if constexpr (recomputes<Policy>) {
    auto const again = partition_recomputed<Policy, V2, E2>(g, on);
    auto const seen = opened<V2, E2>(again.graph, {false, false, false}), finest = opened<V2, E2>(again.graph, {});
    return {finest.graph, carried_over(again.partition, seen, finest)};
  } else {
    auto const seen = opened<V2, E2>(g, opened_by<Policy>), finest = opened<V2, E2>(g, {});
    return {finest.graph, carried_over(partition_primitives<Policy>(g, seen, on), seen, finest)};
  }
}

/// Likewise for a graph known at compile time: `graph`, exactly sized, and `partition`.
template <auto const& G, class Policy, device On>
struct partitioned {
 private:
  static constexpr graph_size size = size_of_opened(G, opened_by<Policy>);
  static constexpr auto all = opened<size.nodes, size.edges>(G, opened_by<Policy>);
  static constexpr auto primitives = all.graph;
  static constexpr auto const& found = partition_of_opened<Policy, G, all, primitives, On>;
  static constexpr auto closed = opened_where_torn<Policy>(G, all, found.minis);
  static constexpr auto carried = carried_over(found, all, closed);

 public:
  static constexpr auto graph =
      passes::fit<closed.graph.node_count, closed.graph.edge_count, closed.graph.output_count>(closed.graph);
  static constexpr auto partition = fit<graph.node_count>(carried);
};
template <auto const& G, class Policy, device On>
  requires recomputes<Policy>
struct partitioned<G, Policy, On> {
 private:
  static constexpr graph_size open = size_of_opened(G, opened_by<Policy>);
  static constexpr auto all = opened<open.nodes, open.edges>(G, opened_by<Policy>).graph;
  static constexpr auto kernels = Policy::kernels(all, On);
  static constexpr graph_size size = size_of_recomputed(all, kernels);
  static constexpr auto again = recomputed<size.nodes, size.edges>(all, kernels);

 public:
  static constexpr auto const& graph = again.graph;
  static constexpr auto partition = Policy::partition_kernels(again.graph, again.kernels, On);
};
template <auto const& G, class Policy, device On>
  requires(!recomputes<Policy> && !opens_any<Policy>(G))
struct partitioned<G, Policy, On> {
  static constexpr auto const& graph = G;
  static constexpr auto const& partition = partition_in_phases<Policy, G, On>;
};

}  // namespace ago::partition
