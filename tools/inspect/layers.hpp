// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph in layers, as it is drawn: every edge leads from one layer to the next, long ones through items of their own.
#pragma once

#include <vector>

namespace ago::tools {

/// An operator's place in a layer, or the place where the value of an operator passes a layer.
struct layer_item {
  int node{};       ///< whose value it is
  bool passes{};    ///< no operator stands here
  int layer{};
  std::vector<int> above{}, below{};  ///< items of the layer before, and of the next one
};

struct layered_graph {
  std::vector<layer_item> items;         ///< the first are the nodes, in their order
  std::vector<std::vector<int>> layers;  ///< items from left to right
};

/// Operands of each node; they come before it.
using operand_lists = std::vector<std::vector<int>>;

/// Layers by longest paths, but what reads nothing stands just above its first reader. A value that is read far away
/// takes one item in each layer between, whoever reads it. Items are ordered so that few edges cross.
layered_graph layers_of(operand_lists const& operands);

}  // namespace ago::tools
