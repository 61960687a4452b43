// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Figures of a partition: how even it is, which fusions it permits, and how much memory traffic it saves.
#pragma once

#include <ago/partition/cluster.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/savings.hpp>

namespace ago::partition {

/// Weights are in thousandths.
struct partition_statistics {
  int groups{}, trivial{};  ///< trivial: weight below 20.0
  long total{}, heaviest{};
  double mean{}, median{}, jain{};  ///< Jain's index: 1 if all weights are equal, 1 / groups if one has all
  int most_complex{};               ///< maximum number of complex operators in a group
  int pairs{}, possible_pairs{}, triples{}, possible_triples{};  ///< see intensive_pairs
  int broken_epilogues{}, epilogues{};  ///< complex operators with an epilogue: cut off from it; all
  long bytes_removed{};                 ///< by stores and loads of values between operators
};

/// A group lighter than this is trivial (AGO section VI.B); in thousandths.
inline constexpr long trivial_weight = 20'000;

/// Sum, spread and counts of the groups' weights.
template <int V, int E>
constexpr void weigh(partition_statistics& s, dag<V, E> const& groups) {
  if ((s.groups = groups.count) == 0) return;
  by_weight<V> const sorted(groups.weight, groups.count);
  double squares = 0;
  for (int k = 0; k < groups.count; ++k) {
    long const w = groups.weight[k];
    s.total += w;
    s.trivial += w < trivial_weight;
    s.most_complex = groups.complex[k] > s.most_complex ? groups.complex[k] : s.most_complex;
    squares += double(w) * double(w);
  }
  int const n = groups.count;
  s.heaviest = groups.weight[sorted.order[0]];
  s.mean = double(s.total) / n;
  s.median = (double(groups.weight[sorted.order[n / 2]]) + double(groups.weight[sorted.order[(n - 1) / 2]])) / 2;
  s.jain = double(s.total) * double(s.total) / (n * squares);
}

/// Figures of `p`, a partition of `g` into subgraphs or into mini-subgraphs.
template <int V, int E, int O>
constexpr partition_statistics statistics_of(graph<V, E, O> const& g, ordered_clusters<V> const& p) {
  partition_statistics s;
  dag<V, E> const operators = dag_of(g);
  grouping<V> groups;
  groups.count = p.count;
  for (int v = 0; v < operators.count; ++v) groups.of[v] = p.of[g.input_count + v];
  weigh(s, quotient(operators, groups));
  intensive_pairs<V> const pairs = pairs_of(g, p.of);
  s.pairs = pairs.pairs, s.possible_pairs = pairs.possible_pairs;
  s.triples = pairs.triples, s.possible_triples = pairs.possible_triples;
  s.bytes_removed = bytes_removed(g, p.of, pairs);

  grouping<V> const atoms = atoms_of(g);
  for (int v = 1; v < operators.count; ++v) {  // an atom's first follower reads the complex operator itself
    int const u = g.operand(g.input_count + v) - g.input_count;
    if (u < 0 || atoms.of[u] != atoms.of[v] || !operators.complex[u]) continue;
    ++s.epilogues;
    s.broken_epilogues += groups.of[u] != groups.of[v];
  }
  return s;
}

}  // namespace ago::partition
