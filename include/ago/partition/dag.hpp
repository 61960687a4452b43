// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The partitioner's data structure: a weighted directed acyclic graph whose nodes are operators or groups of operators.
#pragma once

#include <ago/partition/weight.hpp>
#include <ago/passes/value_uses.hpp>

namespace ago::partition {

/// Nodes in any numbering. Predecessors of v are source[first[v]] ... source[first[v + 1] - 1], in operand order, and
/// may repeat. `V` and `E` are capacities.
template <int V, int E>
struct dag {
  int count{};
  array_of<long, slots<V>> weight{};  ///< thousandths, at least 1
  array_of<int, slots<V>> complex{};  ///< complex operators inside
  array_of<int, slots<V> + 1> first{};
  array_of<int, slots<E>> source{};
};

/// The group of each node. Groups are numbered by their smallest member, so equal partitions are equal arrays.
template <int V>
struct grouping {
  array_of<int, slots<V>> of{};
  int count{};
};

/// Numbers groups that are given by arbitrary representatives, rep[v] in 0 ... count - 1.
template <int V>
constexpr grouping<V> grouping_by(int const* rep, int count) {
  grouping<V> r;
  array_of<int, slots<V>> number{};  // plus one
  for (int v = 0; v < count; ++v) r.of[v] = (number[rep[v]] ? number[rep[v]] : number[rep[v]] = ++r.count) - 1;
  return r;
}

/// Groups of groups, expressed as groups of the members.
template <int V>
constexpr grouping<V> compose(grouping<V> const& inner, grouping<V> const& outer, int count) {
  array_of<int, slots<V>> rep{};
  for (int v = 0; v < count; ++v) rep[v] = outer.of[inner.of[v]];
  return grouping_by<V>(rep, count);
}

/// The operators of a network: node i is operator g.input_count + i.
template <int V, int E, int O>
constexpr dag<V, E> dag_of(graph<V, E, O> const& g, weight_constants constants = {}) {
  dag<V, E> d;
  seen_weights seen;
  int edges = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    d.weight[d.count] = seen.of(loops_of(g, v), constants);
    d.complex[d.count] = is_complex(g.nodes[v].kind);
    for (int e = g.nodes[v].input_first, end = e + g.nodes[v].input_count; e < end; ++e)
      if (g.edges[e] >= g.input_count) d.source[edges++] = g.edges[e] - g.input_count;
    d.first[++d.count] = edges;
  }
  return d;
}

/// Every group contracted to one node, without the edges inside groups.
template <int V, int E>
constexpr dag<V, E> quotient(dag<V, E> const& d, grouping<V> const& groups) {
  dag<V, E> q;
  q.count = groups.count;
  for (int v = 0; v < d.count; ++v) {
    int const a = groups.of[v];
    q.weight[a] += d.weight[v];
    q.complex[a] += d.complex[v];
    for (int e = d.first[v]; e < d.first[v + 1]; ++e) q.first[a + 1] += groups.of[d.source[e]] != a;
  }
  for (int a = 0; a < q.count; ++a) q.first[a + 1] += q.first[a];
  array_of<int, slots<V>> next{};
  for (int a = 0; a < q.count; ++a) next[a] = q.first[a];
  for (int v = 0; v < d.count; ++v)
    for (int e = d.first[v], a = groups.of[v]; e < d.first[v + 1]; ++e)
      if (groups.of[d.source[e]] != a) q.source[next[a]++] = groups.of[d.source[e]];
  return q;
}

/// The same nodes with only the edges inside groups.
template <int V, int E>
constexpr dag<V, E> inside(dag<V, E> const& d, grouping<V> const& groups) {
  dag<V, E> r = d;
  int edges = 0;
  for (int v = 0; v < d.count; ++v) {
    for (int e = d.first[v]; e < d.first[v + 1]; ++e)
      if (groups.of[d.source[e]] == groups.of[v]) r.source[edges++] = d.source[e];
    r.first[v + 1] = edges;
  }
  return r;
}

}  // namespace ago::partition

namespace ago {
using partition::grouping;
}  // namespace ago
