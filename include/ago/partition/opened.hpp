// Policies that look into compound operators: partitioned opened, and closed again where nothing has been cut.
#pragma once

#include <ago/graph/opening.hpp>
#include <ago/graph/rewriting.hpp>
#include <ago/partition/policy.hpp>

namespace ago {

/// What a policy opens. AGO's own keeps compound operators whole, as it does epilogues; Apollo opens all of them; TVM's
/// Relay, whose graphs FuseOps and the published AGO partition, knows softmax as one operator.
constexpr opening opened_by(policy p) {
  if (p == policy::ago || p == policy::ago_ni) return {false, false, false};
  return {.softmax = p == policy::apollo};
}

/// Does the policy look into any operator of `g`?
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

/// The compound operators whose primitives `minis` has torn apart.
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

/// The partition `p` of `all`, carried over to `closed`, in which some compound operators are whole.
template <int V, int E, int O>
constexpr partitions<V> carried_over(partitions<V> const& p, opened_graph<V, E, O> const& all,
                                     opened_graph<V, E, O> const& closed) {
  graph<V, E, O> const& g = closed.graph;
  grouping<V> subgraphs, minis;
  int chain_of[V > 0 ? V : 1]{};
  subgraphs.count = p.subgraphs.count;
  minis.count = p.minis.count;
  int i = 0;  // the node of `all` that is j, or its last primitive
  for (int j = 0; j < g.node_count; ++j, ++i) {
    bool const last = j + 1 == g.node_count || closed.compound[j + 1] != closed.compound[j];
    while (last && i + 1 < all.graph.node_count && all.compound[i + 1] == closed.compound[j]) ++i;
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

/// The partition of `g` by policy `P`, which sees it opened, and the graph that it is a partition of: `g`, opened where
/// primitives of one compound operator are in several mini-subgraphs. All others are computed whole, by kernels of
/// their own. `V2`, `E2`: at least size_of_opened().
template <policy P, int V2, int E2, int V, int E, int O>
constexpr partitioned_graph<V2, E2, O> partition_opened(graph<V, E, O> const& g, device const& on = {}) {
  auto const all = opened<V2, E2>(g, opened_by(P));
  partitions<V2> const p = partition_by<P>(all.graph, on);
  auto const closed = opened<V2, E2>(g, opened_by(P), detail::torn_by<V>(p.minis, all).of);
  return {closed.graph, detail::carried_over(p, all, closed)};
}

/// Likewise of a graph known to the compiler: `graph`, exactly sized, and `partition`.
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
