// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CLUSTER, AGO Algorithm 1.
#pragma once

#include <ago/partition/contraction.hpp>
#include <ago/partition/levels.hpp>

#include <climits>
#include <initializer_list>

namespace ago::partition {

/// Node numbers, the heaviest first; equal weights keep their order (merge sort).
template <int V>
struct by_weight {
  array_of<int, slots<V>> order{}, other{};

  constexpr by_weight(long const* w, int count) {
    for (int i = 0; i < count; ++i) order[i] = i;
    for (int n = 1; n < count; n *= 2) {
      for (int low = 0; low < count; low += 2 * n) {
        int const middle = low + n < count ? low + n : count, high = low + 2 * n < count ? low + 2 * n : count;
        for (int i = low, j = middle, k = low; k < high; ++k)
          other[k] = j == high || (i < middle && w[order[i]] >= w[order[j]]) ? order[i++] : order[j++];
      }
      for (int i = 0; i < count; ++i) order[i] = other[i];
    }
  }
};

/// The node that v is contracted with: of its neighbours one stage before or after it, the lightest that keeps the
/// group below `limit` and within `complex_limit`; ties: the one with the smallest member; -1: none.
template <int V, int E>
constexpr int partner_of(contraction<V, E>& c, int v, long limit, int complex_limit) {
  int best = -1;
  long const room = limit - c.weight[v];
  int const complex_room = complex_limit - c.complex[v];
  auto const improves = [&](int u) {
    return c.weight[u] < room && c.complex[u] <= complex_room &&
           (best < 0 || c.weight[u] < c.weight[best] ||
            (c.weight[u] == c.weight[best] && c.smallest[u] < c.smallest[best]));
  };
  int deepest = -1;
  for (int e = c.ins[v]; e >= 0; e = c.in_next[e]) {
    int const u = c.from[e];
    if (!improves(u)) continue;
    if (deepest < 0) deepest = c.deepest(v);
    if (c.depth[u] == deepest) best = u;
  }
  for (int e = c.outs[v]; e >= 0; e = c.out_next[e]) {
    int const u = c.to[e];
    if (!improves(u)) continue;
    if (c.has_one_edge_in(u)) {
      best = u;
    } else {
      int const longest = c.deepest(u);
      if (c.depth[v] == longest) best = u;
    }
  }
  return best;
}

/// Likewise, among all nodes of its component one stage before or after it.
template <int V, int E>
constexpr int partner_of(levels<V, E>& l, int v, long limit, int complex_limit) {
  l.settle_around(v);
  long const room = limit - l.joins.weight[v];
  int const complex_room = complex_limit - l.joins.complex[v];
  int const before = l.lightest(l.above[l.level[v]], room, complex_room);
  int const after = l.lightest(l.below[l.level[v]], room, complex_room);
  return after < 0 || (before >= 0 && l.lighter(before, after)) ? before : after;
}

/// `levels` for contractions of neighbours only.
template <int V, int E>
struct neighbours_by_level : levels<V, E> {
  using levels<V, E>::levels;
};

/// The same node as of a contraction.
template <int V, int E>
constexpr int partner_of(neighbours_by_level<V, E>& l, int v, long limit, int complex_limit) {
  l.settle_around(v);
  auto const& c = l.joins;
  int best = -1;
  auto const consider = [&](int u, int level) {
    if (l.is_on(u, level) && c.weight[u] < limit - c.weight[v] && c.complex[u] <= complex_limit - c.complex[v] &&
        (best < 0 || l.lighter(u, best)))
      best = u;
  };
  for (int e = c.ins[v]; e >= 0; e = c.in_next[e]) consider(c.from[e], l.above[l.level[v]]);
  for (int e = c.outs[v]; e >= 0; e = c.out_next[e]) consider(c.to[e], l.below[l.level[v]]);
  return best;
}

/// Would searching whenever a stage is asked for take long? If every edge into a node with several predecessors is
/// asked for once, 64 nodes for each node of the graph may be searched.
template <int V, int E>
constexpr bool is_tangled(contraction<V, E>& c, int count) {
  std::int64_t left = std::int64_t(64) * count;
  for (int v = 0; v < count && left >= 0; ++v) {
    std::int64_t const before = c.searched;
    int edges = 0;
    for (int e = c.ins[v]; e >= 0; e = c.in_next[e]) ++edges;
    if (edges > 1) c.deepest(v);
    left -= edges * (c.searched - before);
  }
  return left < 0;
}

/// Lets each of `count` candidates absorb partners until none fits.
constexpr void grow(auto& state, int const* candidates, int count, long limit, int complex_limit) {
  for (int i = 0; i < count; ++i) {
    int const v = candidates[i];
    if (state.is_current(v))
      for (int u = 0; (u = partner_of(state, v, limit, complex_limit)) >= 0;) state.absorb(v, u);
  }
}

/// The nodes one topological stage before or after a node that it may be contracted with: the paper's affix set
/// (Definition 3).
enum class affix : std::uint8_t {
  adjacent,   ///< its neighbours
  component,  ///< all nodes of its weakly connected component: the literal definition
};

/// Groups the nodes of `d` such that the groups can run one after another: AGO Algorithm 1. The heaviest candidate
/// (ties: the one with the smallest member) absorbs the lightest node of its affix set while the sum stays below
/// `limit`, in thousandths, and the complex operators do not exceed `complex_limit`. A node of weight `limit` or more
/// stays alone. `d` must be acyclic.
///
/// A group that has grown is heavier than all other candidates, so one descending sort finds the heaviest every time.
template <int V, int E>
constexpr grouping<V> cluster(dag<V, E> const& d, long limit, int complex_limit = INT_MAX,
                              affix reading = affix::adjacent) {
  partition::by_weight<V> const sorted(d.weight, d.count);
  if (reading == affix::adjacent) {
    contraction<V, E> c(d);
    constexpr int small = 4'096;  // here, and in constant expressions, searches are cheap enough
    if (d.count <= small || !is_tangled(c, d.count))
      return partition::grow(c, sorted.order, d.count, limit, complex_limit), c.groups(d.count);
    neighbours_by_level<V, E> l(d);
    return partition::grow(l, sorted.order, d.count, limit, complex_limit), l.joins.groups(d.count);
  }
  levels<V, E> l(d);
  return partition::grow(l, sorted.order, d.count, limit, complex_limit), l.joins.groups(d.count);
}

/// cluster(D, Limit, ComplexLimit, Reading) in several constant evaluations.
template <auto const& D, long Limit, int ComplexLimit, affix Reading>
struct cluster_phases {
 private:
  static constexpr int candidates = 16;  // of one evaluation
  template <int V, int E>
  static constexpr auto start(dag<V, E> const& d) {
    if constexpr (Reading == affix::adjacent) return contraction<V, E>(d);
    else return levels<V, E>(d);
  }
  template <int V, int E>
  static constexpr by_weight<V> sort(dag<V, E> const& d) {
    return {d.weight, d.count};
  }
  static constexpr auto sorted = sort(D);
  template <int From>
  static constexpr auto grown(auto state) {
    grow(state, sorted.order + From, D.count - From < candidates ? D.count - From : candidates, Limit, ComplexLimit);
    return state;
  }
  static constexpr auto ungrown = start(D);
  template <int End>
  struct until {
    static constexpr auto state = grown<End - candidates>(until<End - candidates>::state);
  };
  template <int End>
    requires(End <= 0)
  struct until<End> {
    static constexpr auto const& state = ungrown;
  };
  static constexpr auto groups_of(auto state) {
    if constexpr (Reading == affix::adjacent) return state.groups(D.count);
    else return state.joins.groups(D.count);
  }

 public:
  static constexpr auto groups = groups_of(until<(D.count + candidates - 1) / candidates * candidates>::state);
};

}  // namespace ago::partition
