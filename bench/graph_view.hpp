// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network's graph as a run-time value of one type, whatever its capacities. The peers are built from it.
#pragma once

#include <ago/ir/graph.hpp>
#include <ago/plan/account.hpp>

#include <span>

namespace bench {

/// Refers to a graph, which must outlive it.
struct graph_view {
  std::span<ago::ir::node const> nodes;
  std::span<int const> edges, outputs;
  int input_count = 0, parameters = 0;

  graph_view() = default;
  template <int V, int E, int O>
  graph_view(ago::ir::graph<V, E, O> const& g)
      : nodes{g.nodes, std::size_t(g.node_count)}, edges{g.edges, std::size_t(g.edge_count)},
        outputs{g.outputs, std::size_t(g.output_count)}, input_count{g.input_count}, parameters{g.parameters} {}
  template <int V, int E, int O>
  graph_view(ago::ir::graph<V, E, O> const&&) = delete;

  int size() const { return int(nodes.size()); }
  ago::ir::node const& node(int v) const { return nodes[std::size_t(v)]; }
  int operand(int v, int k = 0) const { return edges[std::size_t(node(v).input_first + k)]; }
  int groups(int v) const { return node(v).kind == ago::op::depthwise ? node(v).out.c : node(v).groups; }
  long fan_in(int v) const { return ago::partition::fan_in(*this, v); }
  /// Multiply-adds of the complex operators; for convolutions, those of the direct algorithm.
  long multiply_adds() const {
    long sum = 0;
    for (int v = 0; v < size(); ++v) sum += ago::partition::multiply_adds(*this, v);
    return sum;
  }
};

}  // namespace bench
