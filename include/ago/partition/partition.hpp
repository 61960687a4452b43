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

/// The weight limit Td of subgraphs for networks from which none can be derived, in thousandths.
inline constexpr long fallback_limit = 600'000;

/// The weight of the heaviest pair of atoms that may be a chain which begins with elementwise operators; 0: none.
template <int V, int E, int O>
constexpr long heaviest_pair(graph<V, E, O> const& g, grouping<V> const& atoms, dag<V, E> const& weighted_atoms,
                             value_uses<V> const& uses, int const* first) {
  long heaviest = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    int const b = atoms.of[v - g.input_count], k = first[b] == v ? operand_in_chain(g, v) : -1;
    int const u = k < 0 ? -1 : g.operand(v, k);
    if (u < g.input_count || !is_elementwise(g.nodes[u].kind) || !uses.is_private(u)) continue;
    int const a = atoms.of[u - g.input_count];
    if (!is_elementwise(g.nodes[first[a]].kind) || !leads_chain(g, first[a]) || !can_follow(g, v, first[a])) continue;
    long const sum = weighted_atoms.weight[a] + weighted_atoms.weight[b];
    heaviest = sum > heaviest ? sum : heaviest;
  }
  return heaviest;
}

/// 1.05 times the weight of the heaviest pointwise - depthwise - pointwise triple of atoms whose inner values have no
/// other reader, so that no inverted residual is cut because of its weight; `fallback_limit` if the network has none.
/// More, if pairs of heaviest_pair() are heavier.
template <int V, int E, int O>
constexpr long default_limit(graph<V, E, O> const& g, grouping<V> const& atoms, dag<V, E> const& weighted_atoms) {
  array_of<int, slots<V>> first{}, last{};  // members, as nodes of g: first is the main operator
  for (int v = g.node_count - 1; v >= g.input_count; --v) first[atoms.of[v - g.input_count]] = v;
  for (int v = g.input_count; v < g.node_count; ++v) last[atoms.of[v - g.input_count]] = v;
  value_uses<V> const uses(g);
  long heaviest = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (g.nodes[v].kind != op::pointwise || g.operand(v) < g.input_count) continue;
    int const middle = atoms.of[g.operand(v) - g.input_count], dw = first[middle];
    if (g.nodes[dw].kind != op::depthwise || !uses.is_private(last[middle]) || g.operand(dw) < g.input_count) continue;
    int const front = atoms.of[g.operand(dw) - g.input_count];
    if (g.nodes[first[front]].kind != op::pointwise || !uses.is_private(last[front])) continue;
    long const* w = weighted_atoms.weight;
    long const sum = w[front] + w[middle] + w[atoms.of[v - g.input_count]];
    heaviest = sum > heaviest ? sum : heaviest;
  }
  auto const with_room = [](long weight) { return weight + weight / 20 + 1; };
  long const pair = with_room(heaviest_pair(g, atoms, weighted_atoms, uses, first));
  long const limit = heaviest > 0 ? with_room(heaviest) : fallback_limit;
  return pair > limit ? pair : limit;
}

/// Td, in thousandths: `default_limit` of the atoms of a network whose operators are `operators`.
template <int V, int E, int O>
constexpr long default_limit(graph<V, E, O> const& g, dag<V, E> const& operators) {
  grouping<V> const atoms = atoms_of(g);
  return default_limit(g, atoms, quotient(operators, atoms));
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
/// mini-subgraphs are the atoms. `limit` is Td in thousandths. `intensive` false: the same subgraphs, but each atom is
/// computed alone. `search` false: no other orders than the recorded one.
template <int V, int E, int O>
constexpr partitions<V> ago_partition_of(graph<V, E, O> const& g, grouping<V> const& atoms, long limit, bool intensive,
                                         device const& on, bool search = true) {
  dag<V, E> const operators = dag_of(g);
  return partition::partitions_of(g, operators, atoms, best_partition(g, operators, atoms, limit, on, search),
                                  intensive);
}

/// The library's policy: atoms, which are never cut, so that no operator is separated from its epilogue, and
/// `ago_partition_of` them. `limit` is Td in thousandths; 0: `default_limit`.
template <int V, int E, int O>
constexpr partitions<V> ago_partition(graph<V, E, O> const& g, long limit = 0, bool intensive = true,
                                      device const& on = {}) {
  if (limit <= 0) limit = default_limit(g, dag_of(g));
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
  static constexpr long limit = default_limit(G, atoms, weighted_atoms);
  static constexpr auto chains = chain_values_of(G, atoms, On);

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
