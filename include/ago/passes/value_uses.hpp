// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The readers of each value.
#pragma once

#include <ago/ir/graph.hpp>

namespace ago::passes {

/// Elements of an array of capacity N. With smaller arrays, g++ 12 unrolls run-time loops beyond their end and then
/// warns about it.
template <int N>
inline constexpr int slots = N > 4 ? N : 4;

/// How often operators read each value, the last one that does, and whether the value is an output of the network.
template <int V>
struct value_uses {
  array_of<int, slots<V>> readers{};
  array_of<int, slots<V>> reader{};  ///< if there are any
  array_of<bool, slots<V>> is_output{};

  template <int E, int O>
  constexpr explicit value_uses(graph<V, E, O> const& g) {
    for (int v = 0; v < g.node_count; ++v)
      for (int e = g.nodes[v].input_first, end = e + g.nodes[v].input_count; e < end; ++e) {
        ++readers[g.edges[e]];
        reader[g.edges[e]] = v;
      }
    for (int i = 0; i < g.output_count; ++i) is_output[g.outputs[i]] = true;
  }
  /// Is it read once, and not an output?
  constexpr bool is_private(int v) const { return readers[v] == 1 && !is_output[v]; }
  /// The operator that reads it, if it is private; otherwise -1.
  constexpr int only_reader(int v) const { return is_private(v) ? reader[v] : -1; }
};

/// For each value, the edges by which operators read it, in their order: first[v], next[first[v]], ...; -1 ends it.
template <int V, int E>
struct reading_edges {
  array_of<int, slots<V>> first{};
  array_of<int, slots<E>> next{}, reader{};  ///< of each edge

  template <int O>
  constexpr explicit reading_edges(graph<V, E, O> const& g) {
    for (int v = 0; v < g.node_count; ++v) first[v] = -1;
    for (int v = g.node_count - 1; v >= 0; --v)
      for (int k = g.nodes[v].input_count - 1; k >= 0; --k) {
        int const e = g.nodes[v].input_first + k;
        reader[e] = v;
        next[e] = first[g.edges[e]];
        first[g.edges[e]] = e;
      }
  }
};

}  // namespace ago::passes
