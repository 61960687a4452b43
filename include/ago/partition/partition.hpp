// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's own partition of a network into subgraphs and mini-subgraphs: AGO's front end.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/partition/atoms.hpp>
#include <ago/partition/chains.hpp>
#include <ago/partition/intervals.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/split.hpp>

#include <type_traits>

namespace ago::partition {

/// The weight limit Td of subgraphs, in thousandths: of the subgraphs of one to six complex operators whose tuning was
/// measured, which weigh up to 1,965, none needs more than the tuner's budget, and the heavier ones no more than the
/// others (docs/tuning.md, after AGO's Fig. 8).
inline constexpr long default_limit = 2'000'000;

/// Td of a network with these chains: a chain is one pass, whose tiles are tuned together whatever it weighs.
template <int V, int E>
constexpr long limit_for(dag<V, E> const& weighted_atoms, chain_values<V> const& chains) {
  long r = default_limit;
  for (int a = 0; a < weighted_atoms.count; ++a) {
    long weight = 1;
    for (int n = 0, b = a; n < max_chain && b >= 0; ++n, b = chains.next[b]) weight += weighted_atoms.weight[b];
    if (chains.next[a] >= 0 && weight > r) r = weight;
  }
  return r;
}

/// The partitions of a network into these subgraphs and chains of its atoms.
template <int V, int E, int O>
constexpr partitions<V> partitions_of(graph<V, E, O> const& g, dag<V, E> const& operators, grouping<V> const& atoms,
                                      cut_order<V> const& best, bool intensive) {
  grouping<V> const chains = compose(atoms, best.chains, operators.count);
  partitions<V> r = ordered(g, operators, compose(atoms, best.subgraphs, operators.count), chains, atoms);
  for (int v = 0; v < g.node_count; ++v)
    r.chain_of[v] = v < g.input_count ? -1 : (intensive ? chains : atoms).of[v - g.input_count];
  r.intensive = intensive;
  return r;
}

/// The subgraphs of `atoms`, and the chains within them, that together save the most time (`best_partition`). The
/// mini-subgraphs are the atoms. `limit` is Td in thousandths; 0: `limit_for`. `intensive` false: the same subgraphs,
/// but each atom is computed alone. `search` false: no other orders than the recorded one.
template <int V, int E, int O>
constexpr partitions<V> ago_partition_of(graph<V, E, O> const& g, grouping<V> const& atoms, long limit, bool intensive,
                                         device const& on, bool search = true) {
  dag<V, E> const operators = dag_of(g), weighted_atoms = quotient(operators, atoms);
  chain_values<V> const chains = chain_values_of(g, atoms, on);
  if (limit <= 0) limit = limit_for(weighted_atoms, chains);
  return partition::partitions_of(g, operators, atoms, best_partition(g, atoms, weighted_atoms, chains, limit, search),
                                  intensive);
}

/// The library's policy: atoms, which are never cut, so that no operator is separated from its epilogue, and
/// `ago_partition_of` them.
template <int V, int E, int O>
constexpr partitions<V> ago_partition(graph<V, E, O> const& g, long limit = 0, bool intensive = true,
                                      device const& on = {}) {
  return ago_partition_of(g, atoms_of(g), limit, intensive, on);
}

/// ago_partition in several constant evaluations.
template <auto const& G, device On, bool Intensive>
struct ago_phases {
 private:
  static constexpr int capacity = std::remove_cvref_t<decltype(G)>::node_capacity;
  static constexpr auto operators = dag_of(G);
  static constexpr auto atoms = atoms_of(G);
  static constexpr auto weighted_atoms = quotient(operators, atoms);
  static constexpr auto chains = chain_values_of(G, atoms, On);
  static constexpr long limit = limit_for(weighted_atoms, chains);

  /// The search in order K in evaluations of about so many starts of intervals.
  static constexpr long piece_starts = 30'000;
  template <int K>
  static constexpr ordered_atoms<capacity> in_order{G, atoms, tried_order(weighted_atoms, K)};
  template <int K, int Piece>
  static AGO_CONSTEVAL interval_search<capacity> search_on() {
    interval_search<capacity> r;
    if constexpr (Piece > 0) r = searched<K, Piece - 1>;
    r.run(weighted_atoms, in_order<K>, chains, limit, piece_starts);
    return r;
  }
  template <int K, int Piece>
  static constexpr interval_search<capacity> searched = search_on<K, Piece>();
  template <int K, int Piece = 0>
  static AGO_CONSTEVAL auto found_in() {
    constexpr auto const& search = searched<K, Piece>;
    if constexpr (search.is_done(atoms.count)) return search.result(atoms.count, in_order<K>, chains);
    else return found_in<K, Piece + 1>();
  }
  template <int K>
  static constexpr auto of_order = found_in<K>();
  /// Of orders 0 to K.
  template <int K>
  static AGO_CONSTEVAL auto const& best() {
    if constexpr (K == 0) return of_order<0>;
    else if constexpr (of_order<K>.value.better_than(best<K - 1>().value)) return of_order<K>;
    else return best<K - 1>();
  }

 public:
  static constexpr auto partition =
      partitions_of(G, operators, atoms, best<count_tried_orders(weighted_atoms) - 1>(), Intensive);
};

/// The library's policy. It keeps compound operators whole, as it does epilogues.
struct ago_policy {
  static constexpr char const* name = "ago";
  static constexpr bool merges_siblings = true;
  static constexpr auto partition(auto const& g, device const& on) { return ago_partition(g, 0, true, on); }
  template <auto const& G, device On>
  using phases = ago_phases<G, On, true>;
};
/// The same subgraphs without intensive fusion: AGO-NI of the paper.
struct ago_ni_policy {
  static constexpr char const* name = "ago-ni";
  static constexpr bool merges_siblings = true;
  static constexpr auto partition(auto const& g, device const& on) { return ago_partition(g, 0, false, on); }
  template <auto const& G, device On>
  using phases = ago_phases<G, On, false>;
};

}  // namespace ago::partition
