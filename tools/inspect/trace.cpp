// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace.hpp"

#include "../support/diagnostic.hpp"

namespace ago::tools {

std::string to_string(ir::diagnostic const& d) {
  return "layer " + std::to_string(d.layer) + ", " + name_of(d.where) + " of source line " + std::to_string(d.line) +
         ": " + text_of(d);
}

void detail::check_room(ago::tracing::recorder const& made, int nodes, int edges, int outputs) {
  if (made.nodes.size <= nodes && made.edges.size <= edges && made.outputs.size <= outputs) return;
  throw std::length_error("the network has " + std::to_string(made.nodes.size) + " operators, " +
                          std::to_string(made.edges.size) + " operands and " + std::to_string(made.outputs.size) +
                          " outputs; there is room for " + std::to_string(nodes) + ", " + std::to_string(edges) +
                          " and " + std::to_string(outputs));
}

}  // namespace ago::tools
