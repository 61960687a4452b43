// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network that is known at run time.
#pragma once

#include <ago/network/lowering.hpp>

#include <memory>
#include <stdexcept>

namespace train_test {

/// The graph of a network, with at most so many nodes, edges and rows of parameters.
template <int Nodes, int Edges, int Rows>
struct recorded_network {
  using graph_type = ago::ir::graph<Nodes, Edges, 4>;
  static constexpr int row_capacity = Rows;  ///< of parameters

  std::unique_ptr<graph_type> graph = std::make_unique<graph_type>();
  ago::lowering::parameter_table<Rows> table{};
  int rows = 0;

  void take(ago::tracing::recorder const& from) {
    if (from.nodes.size > Nodes || from.edges.size > Edges || from.parameters.size > Rows)
      throw std::logic_error("a network is larger than expected");
    ago::lowering::copy_to(*graph, from);
    rows = from.parameters.size;
    // Rows are looked up by their offsets, so those that there are not come last.
    for (int i = 0; i < Rows; ++i) {
      if (i < rows) table.rows[i] = from.parameters[i];
      else table.rows[i].offset = ago::tracing::int_limit;
    }
  }
};

}  // namespace train_test
