// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A DAG under edge contraction. Stages are not stored, since one contraction would shift all stages downstream: whether
// an edge decides a stage is found by a local search on demand. A topological order is kept up to date for these
// searches.
#pragma once

#include <ago/partition/order.hpp>

#include <cstdint>

namespace ago::partition {

template <int V, int E>
struct contraction {
  static constexpr int nodes = slots<V>, edges = slots<E>;

  // Current nodes are those without a parent. Each edge between them is on two lists: `outs` of `from`, `ins` of `to`.
  array_of<long, nodes> weight{};
  array_of<int, nodes> complex{}, smallest{}, parent{}, label{};
  array_of<int, nodes> outs{}, ins{};
  array_of<int, edges> from{}, to{};
  array_of<int, edges> out_next{}, out_previous{}, in_next{}, in_previous{};
  array_of<int, nodes> depth{}, mark{};
  int stamp{};
  std::int64_t searched{};  // nodes, by `deepest`
  array_of<int, nodes> above{}, below{}, pool{};

  constexpr explicit contraction(dag<V, E> const& d) {
    execution_order<V> const sorted = order_of(d);
    array_of<int, nodes> dominator{};  // immediate: the last node that all paths from the roots pass through; -1: none
    for (int v = 0; v < d.count; ++v) {
      weight[v] = d.weight[v];
      complex[v] = d.complex[v];
      smallest[v] = v;
      parent[v] = outs[v] = ins[v] = -1;
    }
    for (int i = 0; i < sorted.count; ++i) {
      int const v = sorted.order[i];
      label[v] = i;
      dominator[v] = common_dominator(d, v, dominator);
      link(d, v);
    }
  }

  /// Climbs from all operands until the paths meet; no node is visited twice. In `depth`, the operands that dominate
  /// others get the value of `stamp`.
  constexpr int common_dominator(dag<V, E> const& d, int v, int const* dominator) {
    int const begin = d.first[v], end = d.first[v + 1];
    int c = begin < end ? d.source[begin] : -1;
    ++stamp;
    for (int e = begin + 1; e < end && c >= 0; ++e)
      for (int a = d.source[e]; a != c && c >= 0 && mark[a] != stamp;) {
        int& later = label[a] > label[c] ? a : c;
        mark[later] = stamp;
        if (later = dominator[later]; later >= 0) depth[later] = stamp;
        else c = a = -1;
      }
    return c;
  }

  /// Adds the edges into v. An edge from an operand that dominates another operand is transitive: it never decides a
  /// stage, and by the time it would, an edge of the path through the other has taken its place. It is therefore
  /// omitted, and with it residual and long skips, which would make searches long.
  constexpr void link(dag<V, E> const& d, int v) {
    for (int e = d.first[v + 1] - 1; e >= d.first[v]; --e) {
      int const u = d.source[e];
      if (depth[u] == stamp) continue;
      from[e] = u;
      to[e] = v;
      prepend(ins, in_next, in_previous, v, e);
      prepend(outs, out_next, out_previous, u, e);
    }
  }

  static constexpr void prepend(int* first, int* next, int* previous, int v, int e) {
    if (first[v] >= 0) previous[first[v]] = e;
    next[e] = first[v];
    previous[e] = -1;
    first[v] = e;
  }
  static constexpr void unlink(int* first, int* next, int* previous, int v, int e) {
    (previous[e] >= 0 ? next[previous[e]] : first[v]) = next[e];
    if (next[e] >= 0) previous[next[e]] = previous[e];
  }

  constexpr bool is_current(int v) const { return parent[v] < 0; }
  constexpr int find(int v) {
    while (parent[v] >= 0) {
      if (parent[parent[v]] >= 0) parent[v] = parent[parent[v]];
      v = parent[v];
    }
    return v;
  }

  /// Stores the longest paths to the predecessors of x in `depth`, counted from the last node that all paths to x pass
  /// through (or from the roots), and returns the longest. An edge p -> x decides the stage of x, that is stage(x) =
  /// stage(p) + 1, exactly if depth[p] equals the result. The search goes back from x, latest node first, until one
  /// node remains.
  constexpr int deepest(int x) {
    ++stamp;
    int waiting = 0, passed = 0;  // `above` is a heap
    bool from_root = false;
    for (int y = x;;) {
      from_root = from_root || (ins[y] < 0);
      for (int e = ins[y]; e >= 0; e = in_next[e]) {
        int const p = from[e];
        if (mark[p] == stamp) continue;
        mark[p] = stamp;
        push(above, waiting++, p);
      }
      if (waiting == 0 || (waiting == 1 && !from_root)) break;
      ++searched;
      y = below[passed++] = pop(above, waiting--);
    }
    if (waiting == 1) depth[above[0]] = 0;
    while (passed > 0) {
      int const y = below[--passed];
      depth[y] = depth_below(y);
    }
    return depth_below(x) - 1;
  }

  constexpr int depth_below(int y) const {
    int longest = 0;
    for (int e = ins[y]; e >= 0; e = in_next[e]) longest = depth[from[e]] >= longest ? depth[from[e]] + 1 : longest;
    return longest;
  }

  /// If so, the only edge into x decides its stage, and `deepest` is not needed.
  constexpr bool has_one_edge_in(int x) const { return in_next[ins[x]] < 0; }

  /// Is there a path from u to v through other nodes, besides an edge? If not, contracting the two creates no cycle.
  /// Searches from both ends, edge by edge, so that the smaller side limits the time.
  constexpr bool has_detour(int u, int v) {
    int const down = ++stamp, up = ++stamp, low = label[u], high = label[v];
    int e = outs[u], f = ins[v], n_down = 0, n_up = 0;
    for (int i = 0, j = 0;;) {
      for (; e < 0; e = outs[below[i++]])
        if (i == n_down) return false;
      for (; f < 0; f = ins[above[j++]])
        if (j == n_up) return false;
      int const x = to[e], y = from[f];
      if (x == v ? i > 0 : mark[x] == up) return true;
      if (x != v && label[x] < high && mark[x] != down) mark[below[n_down++] = x] = down;
      if (y == u ? j > 0 : mark[y] == down) return true;
      if (y != u && label[y] > low && mark[y] != up) mark[above[n_up++] = y] = up;
      e = out_next[e];
      f = in_next[f];
    }
  }

  /// Collects in `below` the nodes reachable from u with labels below `limit`.
  constexpr int reach_down(int u, int limit) {
    ++stamp;
    int n = 0;
    for (int i = -1; i < n; ++i)
      for (int e = outs[i < 0 ? u : below[i]]; e >= 0; e = out_next[e]) {
        int const x = to[e];
        if (label[x] >= limit || mark[x] == stamp) continue;
        mark[x] = stamp;
        below[n++] = x;
      }
    return n;
  }

  /// Collects in `above` the nodes that lead to v with labels above `limit`.
  constexpr int reach_up(int v, int limit) {
    ++stamp;
    int n = 0;
    for (int i = -1; i < n; ++i)
      for (int e = ins[i < 0 ? v : above[i]]; e >= 0; e = in_next[e]) {
        int const x = from[e];
        if (label[x] <= limit || mark[x] == stamp) continue;
        mark[x] = stamp;
        above[n++] = x;
      }
    return n;
  }

  /// Adds x to a heap of n nodes, with the latest on top.
  constexpr void push(int* heap, int n, int x) const {
    for (; n > 0 && label[heap[(n - 1) / 2]] < label[x]; n = (n - 1) / 2) heap[n] = heap[(n - 1) / 2];
    heap[n] = x;
  }
  /// Takes the latest of n nodes.
  constexpr int pop(int* heap, int n) const {
    int const top = heap[0], x = heap[--n];
    int i = 0;
    for (int child = 1; child < n; child = 2 * i + 1) {
      if (child + 1 < n && label[heap[child + 1]] > label[heap[child]]) ++child;
      if (label[heap[child]] <= label[x]) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = x;
    return top;
  }
  constexpr void sort_by_label(int* list, int n) const {
    for (int k = 1; k < n; ++k) push(list, k, list[k]);
    for (int k = n, x = 0; k > 1; list[--k] = x) x = pop(list, k);
  }

  /// Updates the order for `merged`, the contraction of u and v, u before v (after Pearce and Kelly): nodes that lead
  /// to v move before it, nodes reachable from u move after it, using only the labels that they have now.
  constexpr void place(int u, int v, int merged) {
    int const low = label[u], high = label[v], n_below = reach_down(u, high);
    if (n_below == 0) {
      label[merged] = high;
      return;
    }
    int const n_above = reach_up(v, low);
    sort_by_label(above, n_above);
    sort_by_label(below, n_below);
    int n = 0;
    pool[n++] = low;
    for (int i = 0, j = 0; i < n_above || j < n_below;)
      pool[n++] =
          j == n_below || (i < n_above && label[above[i]] < label[below[j]]) ? label[above[i++]] : label[below[j++]];
    for (int i = 0; i < n_above; ++i) label[above[i]] = pool[i];
    label[merged] = pool[n_above];
    for (int j = 0; j < n_below; ++j) label[below[j]] = pool[n_above + 1 + j];
  }

  /// Contracts u into v, which must be joined by an edge and have no detour between them.
  constexpr void absorb(int v, int u) {
    if (label[u] < label[v]) place(u, v, v);
    else place(v, u, v);
    unite(v, u);
  }

  /// Likewise, but without updating the order: afterwards, no queries about paths are allowed. Only the edges of u are
  /// visited.
  constexpr void unite(int v, int u) {
    for (int e = ins[u], next; e >= 0; e = next) {
      next = in_next[e];
      if (from[e] == v) {
        unlink(outs, out_next, out_previous, v, e);
      } else {
        to[e] = v;
        prepend(ins, in_next, in_previous, v, e);
      }
    }
    for (int e = outs[u], next; e >= 0; e = next) {
      next = out_next[e];
      if (to[e] == v) {
        unlink(ins, in_next, in_previous, v, e);
        to[e] = -1;
      } else {
        from[e] = v;
        prepend(outs, out_next, out_previous, v, e);
      }
    }
    weight[v] += weight[u];
    complex[v] += complex[u];
    smallest[v] = smallest[u] < smallest[v] ? smallest[u] : smallest[v];
    parent[u] = v;
  }

  constexpr grouping<V> groups(int count) {
    array_of<int, nodes> rep{};
    for (int v = 0; v < count; ++v) rep[v] = find(v);
    return grouping_by<V>(rep, count);
  }
};

}  // namespace ago::partition
