// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topological stages that stay valid while nodes are contracted: levels are linked lists, so inserting or removing one
// shifts everything downstream, and nodes that have to move wait until somebody asks for their level.
#pragma once

#include <ago/partition/contraction.hpp>
#include <ago/partition/stage.hpp>

#include <cstdint>

namespace ago::partition {

/// Current nodes, level by level for each weakly connected component. `joins` holds edges and representatives; its
/// labels are not kept up to date.
///
/// A node that may have to move is on no level. It waits for the first level where it may belong, or for another node
/// that it reads. Levels above the first one for which a node waits are those of Definition 2; `settle` finds out
/// which of the nodes waiting for that one belong there.
template <int V, int E>
struct levels {
  enum class state : std::uint8_t { placed, waits_for_level, waits_for_node };
  enum class motion : std::uint8_t { falls, stays, rises };  ///< rises: it may end up above the level where it was

  /// Waiting nodes may need levels beyond those that have nodes.
  static constexpr int nodes = slots<V>, most = slots<2 * V>;
  static constexpr std::int64_t gap = std::int64_t(1) << 32;

  contraction<V, E> joins;
  array_of<int, nodes> component{};  ///< a number for each
  array_of<state, nodes> is{};
  array_of<motion, nodes> moves{};
  array_of<int, nodes> level{};  ///< of each current node, or for which it waits, or the node for which it waits

  // The nodes of a level are a pairing heap with the lightest on top; those that wait for a level, or for a node, are a
  // list.
  array_of<int, most> top{}, waiting{};
  array_of<int, nodes> readers{};
  array_of<int, nodes> child{}, next{}, previous{};  // previous: or the parent
  array_of<int, most> size{}, above{}, below{};      // neighbours of each level, or -1
  array_of<std::int64_t, most> place{};              // increases downwards
  array_of<int, most> unused{};
  int unused_count{}, used{};

  // The levels of each component that have to be settled are a pairing heap with the uppermost on top.
  array_of<int, nodes> unsettled{};
  array_of<int, most> lower{}, other{};
  array_of<bool, most> listed{};

  array_of<int, nodes> holder{};  // the edge into each node where the last search found what it looked for
  array_of<int, nodes> mark{};
  int stamp{};
  array_of<int, nodes> moving{}, pulled{};

  constexpr explicit levels(dag<V, E> const& d) : joins(d) {
    topological_stages<V> const stages = stages_of(d);
    execution_order<V> const sorted = order_of(d);
    array_of<int, nodes> uppermost{};  // level of each component, by its representative
    for (int v = 0; v < d.count; ++v) component[v] = uppermost[v] = unsettled[v] = readers[v] = holder[v] = -1;
    for (int v = 0; v < d.count; ++v)
      for (int e = d.first[v]; e < d.first[v + 1]; ++e) {
        int const a = root(component, v), b = root(component, d.source[e]);
        if (a != b) component[a] = b;
      }
    for (int i = 0; i < sorted.count; ++i) {
      int const v = sorted.order[i], c = root(component, v);
      int deepest = -1;
      for (int e = d.first[v]; e < d.first[v + 1]; ++e)
        if (deepest < 0 || stages.of[d.source[e]] > stages.of[deepest]) deepest = d.source[e];
      if (deepest >= 0) insert(v, after(level[deepest]));
      else insert(v, uppermost[c] >= 0 ? uppermost[c] : uppermost[c] = add_below(-1));
    }
    for (int v = 0; v < d.count; ++v)
      if (int const c = root(component, v); c != v) component[v] = c;
    for (int v = 0; v < d.count; ++v)
      if (component[v] < 0) component[v] = v;
  }

  constexpr bool is_current(int v) const { return joins.is_current(v); }

  constexpr bool is_on(int v, int l) const { return is[v] == state::placed && level[v] == l; }

  static constexpr int root(int* parent, int v) {
    while (parent[v] >= 0) {
      if (parent[parent[v]] >= 0) parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  }

  /// The level below l, which is created if there is none.
  constexpr int after(int l) { return below[l] >= 0 ? below[l] : add_below(l); }
  constexpr int add_below(int l) {
    int const n = unused_count > 0 ? unused[--unused_count] : used++;
    top[n] = waiting[n] = -1;
    size[n] = 0;
    above[n] = l;
    below[n] = l < 0 ? -1 : below[l];
    if (below[n] >= 0 && place[below[n]] - place[l] < 2) make_room(l);
    place[n] = l < 0 ? 0 : below[n] < 0 ? place[l] + gap : place[l] + (place[below[n]] - place[l]) / 2;
    if (l >= 0) below[l] = n;
    if (below[n] >= 0) above[below[n]] = n;
    return n;
  }
  /// Spreads the places after l as far down as they are crowded (after Dietz and Sleator).
  constexpr void make_room(int l) {
    std::int64_t count = 1;
    int end = below[l];
    for (; end >= 0 && place[end] - place[l] <= count * count; end = below[end]) ++count;
    std::int64_t const room = end < 0 ? count * gap : place[end] - place[l];
    std::int64_t i = 1;
    for (int k = below[l]; k != end; k = below[k]) place[k] = place[l] + room * i++ / count;
  }
  constexpr void remove_level(int l) {
    if (above[l] >= 0) below[above[l]] = below[l];
    if (below[l] >= 0) above[below[l]] = above[l];
    unused[unused_count++] = l;
  }

  constexpr bool lighter(int u, int v) const {
    long const a = joins.weight[u], b = joins.weight[v];
    return a < b || (a == b && joins.smallest[u] < joins.smallest[v]);
  }
  constexpr int meld(int a, int b) {
    if (lighter(b, a)) return meld(b, a);
    if (child[a] >= 0) previous[child[a]] = b;
    next[b] = child[a];
    previous[b] = a;
    return child[a] = b, a;
  }
  constexpr void insert(int v, int l) {
    is[v] = state::placed;
    level[v] = l;
    child[v] = next[v] = previous[v] = -1;
    top[l] = top[l] < 0 ? v : meld(top[l], v);
    ++size[l];
  }
  constexpr void remove(int v) {
    int const l = level[v];
    --size[l];
    if (top[l] == v) {
      top[l] = melded(child[v]);
      return;
    }
    detach(v, child[previous[v]] == v ? child[previous[v]] : next[previous[v]]);
    if (child[v] >= 0) top[l] = meld(top[l], melded(child[v]));
  }
  /// Takes v from its list; `link` leads to it.
  constexpr void detach(int v, int& link) {
    link = next[v];
    if (next[v] >= 0) previous[next[v]] = previous[v];
  }
  /// Makes one heap of a list, first of pairs, then of all.
  constexpr int melded(int list) {
    int pairs = -1;
    while (list >= 0) {
      int const a = list, b = next[a];
      list = b < 0 ? -1 : next[b];
      int const pair = b < 0 ? a : meld(a, b);
      next[pair] = pairs;
      pairs = pair;
    }
    int all = pairs;
    if (all >= 0) {
      pairs = next[all];
      while (pairs >= 0) {
        int const pair = pairs;
        pairs = next[pair];
        all = meld(all, pair);
      }
      next[all] = previous[all] = -1;
    }
    return all;
  }

  constexpr int upper(int a, int b) {
    int const first = place[a] < place[b] ? a : b, second = first == a ? b : a;
    other[second] = lower[first];
    return lower[first] = second, first;
  }
  /// Notes that l has to be settled.
  constexpr void list(int l, int c) {
    if (listed[l]) return;
    listed[l] = true;
    lower[l] = other[l] = -1;
    unsettled[c] = unsettled[c] < 0 ? l : upper(unsettled[c], l);
  }
  constexpr int next_unsettled(int c) {
    int const l = unsettled[c];
    int pairs = -1, all = -1;
    for (int k = lower[l]; k >= 0;) {
      int const a = k, b = other[a];
      k = b < 0 ? -1 : other[b];
      int const pair = b < 0 ? a : upper(a, b);
      other[pair] = pairs;
      pairs = pair;
    }
    for (int k; pairs >= 0; all = all < 0 ? k : upper(all, k)) {
      k = pairs;
      pairs = other[k];
    }
    unsettled[c] = all;
    listed[l] = false;
    return l;
  }

  constexpr void append(int v, int& list) {
    next[v] = list;
    previous[v] = -1;
    if (list >= 0) previous[list] = v;
    list = v;
  }
  /// Takes v from where it is or waits.
  constexpr void pull(int v) {
    int const old = level[v];
    if (is[v] == state::placed) {
      remove(v);
      if (size[old] == 0) list(old, component[v]);
    } else {
      detach(v, previous[v] >= 0 ? next[previous[v]] : is[v] == state::waits_for_level ? waiting[old] : readers[old]);
    }
  }
  constexpr void wait_for_level(int v, int l) {
    is[v] = state::waits_for_level;
    level[v] = l;
    append(v, waiting[l]);
    list(l, component[v]);
  }
  constexpr void pull(int v, int l, motion how) {
    pull(v);
    if (moves[v] != motion::rises) moves[v] = how;
    wait_for_level(v, l);
  }

  /// Does x read a node that is on level l?
  constexpr bool reads(int x, int l) {
    int const begin = holder[x] >= 0 && joins.to[holder[x]] == x ? holder[x] : joins.ins[x];
    for (int e = begin; e >= 0; e = joins.in_next[e])
      if (is_on(joins.from[e], l)) return holder[x] = e, true;
    for (int e = joins.ins[x]; e != begin; e = joins.in_next[e])
      if (is_on(joins.from[e], l)) return holder[x] = e, true;
    return false;
  }
  /// A node that x reads and that is not above level l; preferably one whose level is open. -1: none.
  constexpr int obstacle(int x, int l) const {
    int found = -1;
    for (int e = joins.ins[x]; e >= 0; e = joins.in_next[e]) {
      int const u = joins.from[e];
      if (is[u] == state::placed && place[level[u]] < place[l]) continue;
      if (mark[u] != stamp) return u;
      found = u;
    }
    return found;
  }

  /// Puts the nodes that wait for the first level to settle of component c on it, if they belong there.
  constexpr void settle(int c) {
    int const l = next_unsettled(c);
    ++stamp;  // marks those that belong there
    int count = 0;
    bool all_fall = true;
    for (int depth = 0; depth > 0 || waiting[l] >= 0;) {
      if (depth == 0) pulled[depth++] = waiting[l];
      int const x = pulled[depth - 1], u = obstacle(x, l);
      if (u >= 0 && mark[u] != stamp) {
        if (is[u] == state::placed) pull(u, level[u], motion::stays);
        if (is[u] == state::waits_for_level && level[u] == l) pulled[depth++] = u;
        else wait_for_node(x, u), --depth;
        continue;
      }
      --depth;
      if (u >= 0) {
        pull(x, after(l), motion::falls);
        hold_readers(x, l);
        continue;
      }
      pull(x);
      is[x] = state::placed;
      all_fall = all_fall && moves[x] == motion::falls;
      mark[moving[count++] = x] = stamp;
    }
    int const pulls = readers_on(l, count);
    // If all of level l would move on, the nodes that have come down to it get a level of their own instead.
    bool const own = count > 0 && pulls > 0 && pulls == size[l] && all_fall && unsettled[c] < 0;
    if (!own)
      for (int i = 0; i < pulls; ++i) pull(pulled[i], after(l), motion::falls);
    int const arrival = own ? add_below(above[l]) : l;
    for (int i = 0; i < count; ++i) insert(moving[i], arrival);
    for (int i = 0; i < count; ++i) arrive(moving[i]);
    if (size[l] == 0) remove_level(l);
  }

  /// x, which waits for a level, cannot be placed before u. Its readers must not be, either.
  constexpr void wait_for_node(int x, int u) {
    pull(x);
    is[x] = state::waits_for_node;
    if (moves[x] == motion::stays) moves[x] = motion::falls;
    level[x] = u;
    append(x, readers[u]);
    hold_readers(x);
  }
  /// Lets the readers of x on level `only`, or on all levels, wait for their own level.
  constexpr void hold_readers(int x, int only = -1) {
    for (int e = joins.outs[x]; e >= 0; e = joins.out_next[e])
      if (int const y = joins.to[e]; is[y] == state::placed && (only < 0 || level[y] == only))
        pull(y, level[y], motion::stays);
  }

  /// Collects in `pulled` the nodes of level l that read one of them.
  constexpr int readers_on(int l, int count) {
    int n = 0;
    for (int i = 0; i < count; ++i)
      for (int e = joins.outs[moving[i]]; e >= 0; e = joins.out_next[e]) {
        int const x = joins.to[e];
        if (level[x] != l || is[x] != state::placed || mark[x] == stamp) continue;
        mark[x] = stamp;
        pulled[n++] = x;
      }
    return n;
  }

  /// v has been placed: what depends on it may follow.
  constexpr void arrive(int v) {
    int const l = level[v];
    for (int x = readers[v], later; x >= 0; x = later) {
      later = next[x];
      wait_for_level(x, after(l));
    }
    readers[v] = -1;
    if (moves[v] == motion::rises) raise_readers(v);
    moves[v] = motion::falls;
  }
  /// v has moved up: its readers may follow, unless another node holds them.
  constexpr void raise_readers(int v) {
    int const l = level[v];
    for (int e = joins.outs[v]; e >= 0; e = joins.out_next[e]) {
      int const x = joins.to[e], k = level[x];
      if (is[x] == state::placed && (k == below[l] || reads(x, above[k]))) continue;
      moves[x] = motion::rises;
      if (is[x] != state::waits_for_node && place[k] > place[after(l)]) pull(x, after(l), motion::rises);
    }
  }

  /// Makes the level of v, and those next to it, what they are by definition.
  constexpr void settle_around(int v) {
    for (int const c = component[v]; unsettled[c] >= 0; settle(c))
      if (is[v] == state::placed) {
        int const l = level[v];
        if (place[unsettled[c]] > place[below[l] >= 0 ? below[l] : l]) return;
      }
  }

  /// The lightest node of a settled level that is lighter than `room`, with at most `complex_room` complex operators;
  /// -1: none.
  constexpr int lightest(int l, long room, int complex_room) {
    int best = -1, waiting_count = 0;
    for (int u = l < 0 ? -1 : top[l]; u >= 0; u = waiting_count > 0 ? moving[--waiting_count] : -1) {
      if (joins.weight[u] >= room || (best >= 0 && lighter(best, u))) continue;
      if (joins.complex[u] <= complex_room) best = u;
      else
        for (int k = child[u]; k >= 0; k = next[k]) moving[waiting_count++] = k;
    }
    return best;
  }

  /// Contracts u into v; their levels must be adjacent, and settled.
  constexpr void absorb(int v, int u) {
    int const high = below[level[u]] == level[v] ? level[u] : level[v], low = below[high];
    remove(u);
    remove(v);
    joins.unite(v, u);
    bool const held = reads(v, high);
    insert(moving[0] = v, held ? low : high);
    if (held) {
      mark[v] = ++stamp;
      int const pulls = readers_on(low, 1);
      for (int i = 0; i < pulls; ++i) pull(pulled[i], after(low), motion::falls);
    } else if (size[low] > 0) {
      raise_readers(v);
    } else {
      remove_level(low);  // everything after it moves up
    }
  }
};

}  // namespace ago::partition
