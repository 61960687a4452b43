// The partition of a network into subgraphs and mini-subgraphs, in execution order: AGO's front half.
#pragma once

#include <ago/partition/atoms.hpp>
#include <ago/partition/chains.hpp>
#include <ago/partition/cluster.hpp>
#include <ago/partition/split.hpp>

namespace ago {

/// Clusters of operators, numbered in execution order.
template <int V>
struct partition {
  int of[slots<V>]{};     ///< cluster of each node; -1: an input
  int order[slots<V>]{};  ///< operators (node numbers), cluster by cluster, every one after its operands
  int count{};            ///< clusters
  int operators{};
  bool acyclic{};  ///< the clusters can run one after another
};

/// A network's subgraphs, and their mini-subgraphs. Both have the same `order`; the mini-subgraphs of one subgraph
/// follow one another.
template <int V>
struct partitions {
  partition<V> subgraphs, minis;
  int chain_of[V > 0 ? V : 1]{};  ///< chain of each node, whose mini-subgraphs are computed in one pass; -1: an input
};

/// The weight limit Td of subgraphs where nothing in the network suggests one, in thousandths.
inline constexpr long fallback_limit = 600'000;

/// Orders subgraphs, and mini-subgraphs within them. Both group the operators of `g`, whose graph `d` is; every
/// mini-subgraph must lie within one subgraph. Ready clusters with early recorded operators go first.
template <int V, int E, int O>
constexpr partitions<V> ordered(graph<V, E, O> const& g, dag<V, E> const& d, grouping<V> const& subgraphs,
                                grouping<V> const& minis) {
  partitions<V> r;
  execution_order<V> const outer = order_of(quotient(d, subgraphs));
  int place[slots<V>]{}, rank[slots<V>]{}, number[slots<V>]{};
  for (int i = 0; i < outer.count; ++i) place[outer.order[i]] = i;
  for (int v = 0; v < d.count; ++v) rank[minis.of[v]] = place[subgraphs.of[v]];
  execution_order<V> const inner = order_of(quotient(d, minis), rank);
  for (int i = 0; i < inner.count; ++i) number[inner.order[i]] = i;

  int end[slots<V> + 1]{};  // of each mini-subgraph's operators in `order`
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

/// 1.05 times the weight of the heaviest pointwise - depthwise - pointwise triple of atoms whose inner values nothing
/// else reads, so that no inverted residual is cut for its weight; `fallback_limit` if the network has none.
template <int V, int E, int O>
constexpr long default_limit(graph<V, E, O> const& g, grouping<V> const& atoms, dag<V, E> const& weighted_atoms) {
  int first[slots<V>]{}, last[slots<V>]{};  // members, as nodes of g: first is the main operator
  for (int v = g.node_count - 1; v >= g.input_count; --v) first[atoms.of[v - g.input_count]] = v;
  for (int v = g.input_count; v < g.node_count; ++v) last[atoms.of[v - g.input_count]] = v;
  value_reads<V> const reads = reads_of(g);
  long heaviest = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (g.nodes[v].kind != op::pointwise || g.operand(v) < g.input_count) continue;
    int const middle = atoms.of[g.operand(v) - g.input_count], dw = first[middle];
    if (g.nodes[dw].kind != op::depthwise || reads.of[last[middle]] != 1 || g.operand(dw) < g.input_count) continue;
    int const front = atoms.of[g.operand(dw) - g.input_count];
    if (g.nodes[first[front]].kind != op::pointwise || reads.of[last[front]] != 1) continue;
    long const* w = weighted_atoms.weight;
    long const sum = w[front] + w[middle] + w[atoms.of[v - g.input_count]];
    heaviest = sum > heaviest ? sum : heaviest;
  }
  return heaviest > 0 ? heaviest + heaviest / 20 + 1 : fallback_limit;
}

/// The library's policy: CLUSTER (AGO Algorithm 1) on chains of atoms, so that no operator is cut off from its
/// epilogue, and no chain worth fusing is cut; the atoms are the mini-subgraphs. `limit` is Td in thousandths; 0:
/// `default_limit`. `intensive` false: no chains, each atom for itself.
template <int V, int E, int O>
constexpr partitions<V> ago_partition(graph<V, E, O> const& g, long limit = 0, bool intensive = true,
                                      device const& on = {}) {
  dag<V, E> const operators = dag_of(g);
  grouping<V> const atoms = atoms_of(g);
  dag<V, E> const weighted = quotient(operators, atoms);
  grouping<V> const chains = chains_of(g, atoms, intensive, on);
  grouping<V> const clusters =
      cluster(quotient(weighted, chains), limit > 0 ? limit : default_limit(g, atoms, weighted));
  partitions<V> r =
      ordered(g, operators, compose(compose(atoms, chains, operators.count), clusters, operators.count), atoms);
  for (int v = 0; v < g.node_count; ++v)
    r.chain_of[v] = v < g.input_count ? -1 : chains.of[atoms.of[v - g.input_count]];
  return r;
}

}  // namespace ago
