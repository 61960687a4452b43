// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Horizontal positions of the items of a layered graph.
#pragma once

#include "layers.hpp"

namespace ago::tools {

/// The centres of all items; adjacent items of a layer are at least `distance(left, right)` apart. Chains of operators
/// are exactly aligned, and so are the items of a long edge.
std::vector<double> positions_of(layered_graph const& g, double (*distance)(layer_item const&, layer_item const&));

}  // namespace ago::tools
