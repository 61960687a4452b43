// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subgraphs as intervals of an execution order, and chains within them: dynamic programming finds both together.
#pragma once

#include <ago/partition/chains.hpp>
#include <ago/partition/order.hpp>

namespace ago::partition {

/// How good a partition is.
struct interval_value {
  std::int64_t saved{};     ///< by the chains, as a price (fusion_cost.hpp)
  std::int64_t inner{};     ///< bytes between atoms of one subgraph that a chain could join: the tuner may do it
  std::int64_t crossing{};  ///< bytes of values that are written in one subgraph and read after it, for each border
  int groups{};

  constexpr bool better_than(interval_value const& o) const {
    if (saved != o.saved) return saved > o.saved;
    if (inner != o.inner) return inner > o.inner;
    return crossing != o.crossing ? crossing < o.crossing : groups < o.groups;
  }
};

/// The bytes that a cut before each atom of an order separates from their last reader.
template <int V>
struct crossing_bytes {
  array_of<std::int64_t, slots<V> + 1> before{};

  constexpr crossing_bytes() = default;
  template <int E, int O>
  constexpr crossing_bytes(graph<V, E, O> const& g, grouping<V> const& atoms, int const* place) {
    array_of<int, slots<V>> last{};  // place of the last reader of each value
    auto const place_of = [&](int v) { return place[atoms.of[v - g.input_count]]; };
    for (int v = g.input_count; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count; ++k) {
        int const u = g.operand(v, k);
        if (u >= g.input_count && place_of(v) > last[u]) last[u] = place_of(v);
      }
    for (int u = g.input_count; u < g.node_count; ++u) {
      if (last[u] <= place_of(u)) continue;
      before[place_of(u) + 1] += bytes(g.nodes[u].out);
      before[last[u] + 1] -= bytes(g.nodes[u].out);
    }
    for (int i = 1; i <= atoms.count; ++i) before[i] += before[i - 1];
  }
};

/// Atoms grouped into subgraphs and into chains.
template <int V>
struct cut_order {
  interval_value value;
  grouping<V> subgraphs, chains;
};

/// Atoms in an execution order.
template <int V>
struct ordered_atoms {
  execution_order<V> sorted;
  array_of<int, slots<V>> place{};  ///< of each atom
  crossing_bytes<V> crossing;

  template <int E, int O>
  constexpr ordered_atoms(graph<V, E, O> const& g, grouping<V> const& atoms, execution_order<V> const& in)
      : sorted(in) {
    for (int i = 0; i < sorted.count; ++i) place[sorted.order[i]] = i;
    crossing = crossing_bytes<V>(g, atoms, place);
  }
};

/// Finds the best intervals of an order that are lighter than a limit, with the best chains inside each; an atom of
/// that weight or more is an interval by itself. For every end, all possible starts are tried: the time is the number
/// of atoms times the length of intervals. As compilers limit evaluations, the search can be interrupted.
template <int V>
struct interval_search {
  int end = 1, low = 0;  ///< the end that is tried next, and the first start for the one before
  array_of<interval_value, slots<V> + 1> best{};  ///< of the atoms before this one
  array_of<int, slots<V> + 1> begin{};            ///< first atom of the last interval of that solution
  array_of<long, slots<V> + 1> weight{};          ///< of all atoms before this one

  constexpr bool is_done(int atoms) const { return end > atoms; }
  /// Goes on until it is done, or about so many starts have been tried.
  template <int E>
  constexpr void run(dag<V, E> const& atoms, ordered_atoms<V> const& in, chain_values<V> const& chains, long limit,
                     long starts) {
    int const* const order = in.sorted.order;
    chain_choice<V> inside;
    for (; !is_done(atoms.count) && starts > 0; ++end) {
      weight[end] = weight[end - 1] + atoms.weight[order[end - 1]];
      while (low < end - 1 && weight[end] - weight[low] >= limit) ++low;
      starts -= end - low;
      std::int64_t saved = 0, inner = 0;
      for (int i = end - 1; i >= low; --i) {
        int const a = order[i], next = chains.next[a];
        if (next >= 0) {
          inside.choose(chains, a, [&](int b) { return in.place[b] < end; });
          saved += inside.saved[a];
          if (in.place[next] < end) {
            saved -= inside.saved[next];
            inner += chains.between[a];
          }
        }
        interval_value const v{best[i].saved + saved, best[i].inner + inner, best[i].crossing + in.crossing.before[i],
                               best[i].groups + 1};
        if (i < end - 1 && !v.better_than(best[end])) continue;
        best[end] = v;
        begin[end] = i;
      }
    }
  }
  /// When it is done.
  constexpr cut_order<V> result(int count, ordered_atoms<V> const& in, chain_values<V> const& chains) const {
    int const* const order = in.sorted.order;
    chain_choice<V> inside;
    array_of<int, slots<V>> subgraph{}, chain{};  // representatives
    for (int a = 0; a < count; ++a) chain[a] = -1;
    for (int to = count; to > 0; to = begin[to]) {
      for (int i = to - 1; i >= begin[to]; --i) {
        inside.choose(chains, order[i], [&](int b) { return in.place[b] < to; });
        subgraph[order[i]] = order[begin[to]];
      }
      for (int i = begin[to]; i < to; ++i)
        if (chain[order[i]] < 0) inside.represent(chains, order[i], chain);
    }
    return {best[count], grouping_by<V>(subgraph, count), grouping_by<V>(chain, count)};
  }
};

/// Every node as soon as possible after its operands: operands before readers, depth first from the ends.
template <int V, int E>
constexpr execution_order<V> operands_first(dag<V, E> const& d, bool last_operand_first) {
  execution_order<V> r;
  array_of<bool, slots<V>> read{}, entered{};
  array_of<int, slots<V>> stack{}, visited{};  // number of operands visited, of each node
  for (int e = 0; e < d.first[d.count]; ++e) read[d.source[e]] = true;
  for (int end = 0; end < d.count; ++end) {
    if (read[end]) continue;
    int depth = 0;
    stack[depth++] = end;
    entered[end] = true;
    while (depth > 0) {
      int const v = stack[depth - 1], k = visited[v]++;
      if (k == d.first[v + 1] - d.first[v]) {
        r.order[r.count++] = v;
        --depth;
        continue;
      }
      int const u = d.source[last_operand_first ? d.first[v + 1] - 1 - k : d.first[v] + k];
      if (entered[u]) continue;
      entered[u] = true;
      stack[depth++] = u;
    }
  }
  r.acyclic = r.count == d.count;
  return r;
}

/// Does each node read the one before it? Then the graph has no other order.
template <int V, int E>
constexpr bool is_only_order(dag<V, E> const& d, int const* order) {
  for (int i = 1; i < d.count; ++i) {
    bool reads = false;
    for (int e = d.first[order[i]]; e < d.first[order[i] + 1]; ++e) reads = reads || d.source[e] == order[i - 1];
    if (!reads) return false;
  }
  return true;
}

/// The execution orders that are tried: the recorded one, and, if there are others, two that follow operands depth
/// first. Not for more atoms than this, as training steps have: compilers would take longer, and chains saved the same
/// in all three orders of MobileNet-V2's and ShuffleNet-V2's.
inline constexpr int tried_orders = 3, most_atoms_reordered = 1000;
template <int V, int E>
constexpr int count_tried_orders(dag<V, E> const& d) {
  return d.count > most_atoms_reordered || is_only_order(d, order_of(d).order) ? 1 : tried_orders;
}
template <int V, int E>
constexpr execution_order<V> tried_order(dag<V, E> const& d, int k) {
  return k == 0 ? order_of(d) : operands_first(d, k > 1);
}

template <int V, int E>
constexpr cut_order<V> best_intervals(dag<V, E> const& atoms, ordered_atoms<V> const& in, chain_values<V> const& chains,
                                      long limit) {
  interval_search<V> search;
  while (!search.is_done(atoms.count)) search.run(atoms, in, chains, limit, long(atoms.count) * atoms.count);
  return search.result(atoms.count, in, chains);
}

/// The best intervals of one of the orders.
template <int V, int E, int O>
constexpr cut_order<V> best_of_order(graph<V, E, O> const& g, grouping<V> const& atoms, dag<V, E> const& weighted_atoms,
                                     chain_values<V> const& chains, long limit, int k) {
  return best_intervals(weighted_atoms, {g, atoms, tried_order(weighted_atoms, k)}, chains, limit);
}

/// Groups `atoms` into subgraphs lighter than `limit`, and these into chains that are computed in one pass: of all ways
/// to cut several execution orders of the atoms (the recorded one and two that follow operands depth first), the one
/// that saves the most time; then the one that keeps the most bytes between atoms that a chain could join; then the
/// one whose borders the fewest bytes cross.
///
/// Intervals of an execution order create no cycle: every edge between two leads from the earlier to the later one.
/// Conversely, the groups of any acyclic partition are intervals of some order. So if there is only one order, no other
/// partition that keeps the atoms together and respects the limit saves more.
///
/// `search`: whether to try other orders than the recorded one.
template <int V, int E, int O>
constexpr cut_order<V> best_partition(graph<V, E, O> const& g, grouping<V> const& atoms,
                                      dag<V, E> const& weighted_atoms, chain_values<V> const& chains, long limit,
                                      bool search = true) {
  cut_order<V> best = best_of_order(g, atoms, weighted_atoms, chains, limit, 0);
  int const orders = search ? count_tried_orders(weighted_atoms) : 1;
  for (int k = 1; k < orders; ++k) {
    auto const found = best_of_order(g, atoms, weighted_atoms, chains, limit, k);
    if (found.value.better_than(best.value)) best = found;
  }
  return best;
}

}  // namespace ago::partition
