// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution order of a directed graph; computing it also detects cycles.
#pragma once

#include <ago/partition/dag.hpp>

namespace ago::partition {

/// Nodes in an order in which every node follows its predecessors.
template <int V>
struct execution_order {
  array_of<int, slots<V>> order{};
  int count{};  ///< nodes ordered; fewer than the graph has if it has a cycle
  bool acyclic{};
};

/// Nodes that are ready to run, as a binary heap ordered by rank, then by number.
template <int V>
struct ready_nodes {
  int const* rank;  ///< null: all equal
  array_of<int, slots<V>> heap{};
  int count{};

  constexpr bool before(int a, int b) const { return rank && rank[a] != rank[b] ? rank[a] < rank[b] : a < b; }
  constexpr void push(int v) {
    int i = count++;
    for (; i > 0 && before(v, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
  }
  constexpr int pop() {
    int const top = heap[0], v = heap[--count];
    int i = 0;
    for (int child = 1; child < count; child = 2 * i + 1) {
      if (child + 1 < count && before(heap[child + 1], heap[child])) ++child;
      if (!before(heap[child], v)) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = v;
    return top;
  }
};

/// Of the nodes whose predecessors have run, the one with the smallest `rank`, then the smallest number, runs next
/// (Kahn's algorithm). Without ranks, a graph that is numbered in execution order keeps that order.
template <int V, int E>
constexpr execution_order<V> order_of(dag<V, E> const& d, int const* rank = nullptr) {
  execution_order<V> r;
  bool recorded = rank == nullptr;
  for (int v = 0; v < d.count && recorded; ++v)
    for (int e = d.first[v]; e < d.first[v + 1]; ++e) recorded = recorded && d.source[e] < v;
  if (recorded) {
    for (; r.count < d.count; ++r.count) r.order[r.count] = r.count;
    r.acyclic = true;
    return r;
  }
  array_of<int, slots<V>> waiting{};
  array_of<int, slots<E>> reader{}, next{};
  array_of<int, slots<V>> readers{};
  ready_nodes<V> ready{rank};
  for (int v = 0; v < d.count; ++v) readers[v] = -1;
  for (int v = 0; v < d.count; ++v) {
    waiting[v] = d.first[v + 1] - d.first[v];
    if (waiting[v] == 0) ready.push(v);
    for (int e = d.first[v]; e < d.first[v + 1]; ++e) {
      reader[e] = v;
      next[e] = readers[d.source[e]];
      readers[d.source[e]] = e;
    }
  }
  while (ready.count > 0) {
    int const v = r.order[r.count++] = ready.pop();
    for (int e = readers[v]; e >= 0; e = next[e])
      if (--waiting[reader[e]] == 0) ready.push(reader[e]);
  }
  r.acyclic = r.count == d.count;
  return r;
}

/// Can the groups run one after another?
template <int V, int E>
constexpr bool is_acyclic(dag<V, E> const& d, grouping<V> const& groups) {
  return order_of(quotient(d, groups)).acyclic;
}

}  // namespace ago::partition
