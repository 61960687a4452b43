// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's own partition of a network into subgraphs and mini-subgraphs: AGO's front end.
#pragma once

#include <ago/partition/atoms.hpp>
#include <ago/partition/chains.hpp>
#include <ago/partition/fuse_ops.hpp>
#include <ago/partition/intervals.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/split.hpp>

namespace ago {

/// The weight limit Td of subgraphs for networks from which none can be derived, in thousandths.
inline constexpr long fallback_limit = 600'000;

/// 1.05 times the weight of the heaviest pointwise - depthwise - pointwise triple of atoms whose inner values have no
/// other reader, so that no inverted residual is cut because of its weight; `fallback_limit` if the network has none.
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

/// Up to this many operators, the library's policy compares itself with FuseOps; more would exceed compilers' limits.
inline constexpr int compared_operators = 700;

namespace detail {

/// The traffic that groups of operators save.
template <int V, int E, int O>
constexpr long saved_by_groups(graph<V, E, O> const& g, grouping<V> const& groups, long cache = pair_cache()) {
  int of[slots<V>]{};
  for (int v = 0; v < g.node_count; ++v) of[v] = v < g.input_count ? -1 : groups.of[v - g.input_count];
  return bytes_removed(g, of, pairs_of(g, of, cache));
}

}  // namespace detail

/// The library's policy. Atoms and chains are never cut, so no operator is separated from its epilogue, and no chain
/// worth fusing is cut. The subgraphs are those intervals of their execution orders that save the most traffic
/// (`interval_subgraphs`); the mini-subgraphs are the atoms. If the groups of FuseOps save more, the intervals are made
/// of chains united with these groups, which cannot save less. `limit` is Td in thousandths; 0: `default_limit`.
/// `intensive` false: the same subgraphs, but each atom is computed alone.
///
/// Uniting them creates no cycle: all edges out of a chain or a group of FuseOps start at one operator, its last (its
/// exit). If two overlap, every path from a shared operator ends in one of the two exits, and that exit lies in both or
/// leads to the other: the union again has a single exit.
template <int V, int E, int O>
constexpr partitions<V> ago_partition(graph<V, E, O> const& g, long limit = 0, bool intensive = true,
                                      device const& on = {}) {
  dag<V, E> const operators = dag_of(g);
  grouping<V> const atoms = atoms_of(g);
  if (limit <= 0) limit = default_limit(g, atoms, quotient(operators, atoms));
  grouping<V> const chains = chains_of(g, atoms, true, on);
  grouping<V> const blocks = compose(atoms, chains, operators.count);
  long const cache = pair_cache(on);
  grouping<V> subgraphs = interval_subgraphs(g, operators, blocks, limit, cache);
  if (operators.count <= compared_operators) {
    grouping<V> const fused = fuse_ops(patterns_of(g, operators));
    if (detail::saved_by_groups(g, subgraphs, cache) < detail::saved_by_groups(g, fused, cache))
      subgraphs = interval_subgraphs(g, operators, united(blocks, fused, operators.count), limit, cache);
  }
  partitions<V> r = ordered(g, operators, subgraphs, atoms);
  for (int v = 0; v < g.node_count; ++v) {
    int const atom = v < g.input_count ? -1 : atoms.of[v - g.input_count];
    r.chain_of[v] = atom < 0 || !intensive ? atom : chains.of[atom];
  }
  return r;
}

}  // namespace ago
