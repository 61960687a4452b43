// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any ago::ir::graph, whatever its capacities, as one run-time type.
#pragma once

#include <ago/ir/graph.hpp>

#include <span>

namespace reference {

/// Refers to a graph that must outlive it.
class graph_view {
 public:
  template <int V, int E, int O>
  graph_view(ago::ir::graph<V, E, O> const& g)
      : nodes{g.nodes, std::size_t(g.node_count)}, outputs{g.outputs, std::size_t(g.output_count)},
        input_count{g.input_count}, parameters{g.parameters}, edges_{g.edges} {}
  template <int V, int E, int O>
  graph_view(ago::ir::graph<V, E, O> const&&) = delete;

  std::span<ago::ir::node const> nodes;
  std::span<int const> outputs;
  int input_count, parameters;

  int size() const { return int(nodes.size()); }
  int operand(int v, int k = 0) const { return edges_[nodes[std::size_t(v)].input_first + k]; }

 private:
  int const* edges_;
};

}  // namespace reference
