// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph in layers, for drawing: every edge leads from one layer to the next; long edges pass through extra items.
#pragma once

#include <vector>

namespace ago::tools {

/// The place of an operator in a layer, or the place where an operator's value passes the layer.
struct layer_item {
  int node{};       ///< whose value it is
  bool passes{};    ///< not the place of an operator
  int layer{};
  std::vector<int> above{}, below{};  ///< items of the previous and the next layer
};

struct layered_graph {
  std::vector<layer_item> items;         ///< the nodes, in their order, then the others
  std::vector<std::vector<int>> layers;  ///< items from left to right
};

/// The operands of each node, which come before it.
using operand_lists = std::vector<std::vector<int>>;

/// Layers are longest paths; nodes without operands are placed just above their first reader. A value that is read
/// several layers below has a single item in each layer between, for all readers. Items are ordered so that few edges
/// cross.
layered_graph layers_of(operand_lists const& operands);

}  // namespace ago::tools
