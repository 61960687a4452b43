// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places the operators of a graph on paper, and routes its edges.
#pragma once

#include "layers.hpp"

#include <string>
#include <vector>

namespace ago::tools {

/// The centre of an operator.
struct place_on_paper {
  double x{}, y{};
};

struct drawn_edge {
  int from{}, to{};
  std::string path;  ///< in SVG's syntax
};

struct drawing {
  static constexpr double box_width = 188, box_height = 24, gap = 14;  ///< gap: between layers

  double width{}, height{};
  std::vector<place_on_paper> nodes;
  std::vector<drawn_edge> edges;
};

/// Layers are placed from top to bottom, in as many columns as make the drawing about as wide as high.
drawing draw(operand_lists const& operands);

}  // namespace ago::tools
