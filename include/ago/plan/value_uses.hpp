// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The readers of each value.
#pragma once

#include <ago/graph/graph.hpp>

namespace ago {

/// How often each value is read, where a network output counts as a read, and the last operator that reads it (or -1).
template <int V>
struct value_uses {
  int readers[V]{};
  int reader[V]{};
  /// The only operator that reads v, if it does so once and v is no output; otherwise -1.
  constexpr int only_reader(int v) const { return readers[v] == 1 ? reader[v] : -1; }
};

template <int V, int E, int O>
constexpr value_uses<V> uses_of(graph<V, E, O> const& g) {
  value_uses<V> u;
  for (int v = 0; v < g.node_count; ++v) u.reader[v] = -1;
  for (int v = 0; v < g.node_count; ++v)
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      ++u.readers[g.operand(v, k)];
      u.reader[g.operand(v, k)] = v;
    }
  for (int o = 0; o < g.output_count; ++o) ++u.readers[g.outputs[o]];
  return u;
}

/// For each value, the edges by which operators read it, in their order: first[v], next[first[v]], ...; -1 ends it.
template <int V, int E>
struct reading_edges {
  int first[V > 0 ? V : 1]{};
  int next[E > 0 ? E : 1]{}, reader[E > 0 ? E : 1]{};  ///< of each edge
};

template <int V, int E, int O>
constexpr reading_edges<V, E> reading_edges_of(graph<V, E, O> const& g) {
  reading_edges<V, E> r;
  for (int v = 0; v < g.node_count; ++v) r.first[v] = -1;
  for (int v = g.node_count - 1; v >= 0; --v)
    for (int k = g.nodes[v].input_count - 1; k >= 0; --k) {
      int const e = g.nodes[v].input_first + k;
      r.reader[e] = v;
      r.next[e] = r.first[g.edges[e]];
      r.first[g.edges[e]] = e;
    }
  return r;
}

}  // namespace ago
