// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topological stages that stay valid while nodes are contracted: levels are linked lists, so inserting or removing one
// shifts everything downstream.
#pragma once

#include <ago/partition/contraction.hpp>
#include <ago/partition/stage.hpp>

namespace ago::detail {

/// Current nodes, level by level for each weakly connected component. `joins` holds edges and representatives; its
/// labels are not kept up to date.
template <int V, int E>
struct levels {
  contraction<V, E> joins;
  int level[slots<V>]{};  // of each current node
  int first[slots<V>]{}, later[slots<V>]{}, earlier[slots<V>]{};  // the nodes of each level, a doubly linked list
  int above[slots<V>]{}, below[slots<V>]{}, size[slots<V>]{};     // neighbours of each level, or -1
  int unused[slots<V>]{}, unused_count{};
  int mark[slots<V>]{}, stamp{};
  int moving[slots<V>]{}, next_moving[slots<V>]{};

  constexpr explicit levels(dag<V, E> const& d) : joins(d) {
    topological_stages<V> const stages = stages_of(d);
    execution_order<V> const sorted = order_of(d);
    int component[slots<V>]{}, top[slots<V>]{};  // top: the first level of each component, by its representative
    for (int v = 0; v < d.count; ++v) {
      component[v] = top[v] = -1;
      unused[unused_count++] = d.count - 1 - v;
    }
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
      if (deepest >= 0) {
        int const l = level[deepest];
        insert(v, below[l] >= 0 ? below[l] : add_below(l));
      } else {
        insert(v, top[c] >= 0 ? top[c] : top[c] = add_below(-1));
      }
    }
  }

  static constexpr int root(int* parent, int v) {
    while (parent[v] >= 0) {
      if (parent[parent[v]] >= 0) parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  }

  constexpr int add_below(int l) {
    int const n = unused[--unused_count];
    first[n] = -1;
    size[n] = 0;
    above[n] = l;
    below[n] = l < 0 ? -1 : below[l];
    if (l >= 0) below[l] = n;
    if (below[n] >= 0) above[below[n]] = n;
    return n;
  }
  constexpr void remove_level(int l) {
    if (above[l] >= 0) below[above[l]] = below[l];
    if (below[l] >= 0) above[below[l]] = above[l];
    unused[unused_count++] = l;
  }
  constexpr void insert(int v, int l) {
    level[v] = l;
    later[v] = first[l];
    earlier[v] = -1;
    if (first[l] >= 0) earlier[first[l]] = v;
    first[l] = v;
    ++size[l];
  }
  constexpr void remove(int v) {
    int const l = level[v];
    (earlier[v] >= 0 ? later[earlier[v]] : first[l]) = later[v];
    if (later[v] >= 0) earlier[later[v]] = earlier[v];
    --size[l];
  }

  /// Contracts u into v; their levels must be adjacent.
  constexpr void absorb(int v, int u) {
    int const high = below[level[u]] == level[v] ? level[u] : level[v], low = below[high];
    remove(u);
    remove(v);
    joins.unite(v, u);
    bool const held = reads(v, high);
    insert(moving[0] = v, held ? low : high);
    held ? descend(low) : ascend(low);
  }

  /// Part of moving[0] has moved down to level l: its readers there move to the next level, and so on. Where all of a
  /// level would move on, the nodes that have arrived get a level of their own instead.
  constexpr void descend(int l) {
    for (int n = 1, start = l;;) {
      int const waiting = collect(n, l, [](int) { return true; });
      if (waiting == 0) return;
      if (l != start && waiting + n == size[l]) {
        for (int i = 0; i < n; ++i) remove(moving[i]);
        int const own = add_below(above[l]);
        for (int i = 0; i < n; ++i) insert(moving[i], own);
        return;
      }
      l = below[l] >= 0 ? below[l] : add_below(l);
      n = move(waiting, l);
    }
  }

  /// moving[0] has moved up from level l: its readers in the next level follow, unless others hold them, and so on.
  /// When a level becomes empty, everything after it has moved up.
  constexpr void ascend(int l) {
    for (int n = 1; size[l] > 0 && below[l] >= 0;) {
      int const waiting = collect(n, below[l], [&](int x) { return !reads(x, l); });
      if (waiting == 0) return;
      n = move(waiting, l);
      l = below[l];
    }
    if (size[l] == 0) remove_level(l);
  }

  /// Finds the readers in level l of the first n `moving` for which `moves` holds.
  constexpr int collect(int n, int l, auto const& moves) {
    ++stamp;
    int found = 0;
    for (int i = 0; i < n; ++i)
      for (int e = joins.outs[moving[i]]; e >= 0; e = joins.out_next[e]) {
        int const x = joins.to[e];
        if (level[x] != l || mark[x] == stamp) continue;
        mark[x] = stamp;
        if (moves(x)) next_moving[found++] = x;
      }
    return found;
  }
  /// Does x read a node of level l?
  constexpr bool reads(int x, int l) const {
    for (int e = joins.ins[x]; e >= 0; e = joins.in_next[e])
      if (level[joins.from[e]] == l) return true;
    return false;
  }
  constexpr int move(int waiting, int l) {
    for (int i = 0; i < waiting; ++i) {
      remove(moving[i] = next_moving[i]);
      insert(moving[i], l);
    }
    return waiting;
  }
};

}  // namespace ago::detail
