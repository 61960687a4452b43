// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A policy of one's own, as the library's are written.
#pragma once

#include <ago/partition/policy.hpp>

// [policy]
/// A subgraph for each resolution: operators that follow one another and whose results have the same height and width.
/// As intervals of the recorded order, the subgraphs can run one after another.
struct by_resolution {
  static constexpr char const* name = "by-resolution";

  template <int V, int E, int O>
  static constexpr ago::partitions<V> partition(ago::ir::graph<V, E, O> const& g, ago::device const& on) {
    ago::grouping<V> subgraphs;  // of operators, which come after the inputs in g.nodes
    for (int v = g.input_count; v < g.node_count; ++v) {
      ago::shape const &here = g.nodes[v].out, &before = g.nodes[v - 1].out;
      bool const same = v > g.input_count && here.h == before.h && here.w == before.w;
      if (!same) ++subgraphs.count;
      subgraphs.of[v - g.input_count] = subgraphs.count - 1;
    }
    return ago::partition_into(g, subgraphs, on);  // inside, the best chains run in one pass
  }
};
// [/policy]
