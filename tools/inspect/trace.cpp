#include "trace.hpp"

#include "../support/diagnostic.hpp"

namespace ago::tools {

std::string to_string(diagnostic const& d) {
  return "layer " + std::to_string(d.layer) + ", " + name_of(d.where) + " of source line " + std::to_string(d.line) +
         ": " + sentence_of(d);
}

void detail::check_room(int nodes, int edges, int outputs) {
  using room = decltype(roomy_graph::value);
  if (nodes > room::node_capacity || edges > room::edge_capacity || outputs > room::output_capacity)
    throw std::length_error("the network has " + std::to_string(nodes) + " operators, " + std::to_string(edges) +
                            " operands and " + std::to_string(outputs) + " outputs; there is room for " +
                            std::to_string(room::node_capacity) + ", " + std::to_string(room::edge_capacity) + " and " +
                            std::to_string(room::output_capacity));
}

}  // namespace ago::tools
