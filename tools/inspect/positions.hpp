// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far to the right the items of a layered graph stand.
#pragma once

#include "layers.hpp"

namespace ago::tools {

/// Positions of the centres of all items, in whole layers: neighbours in a layer are as far apart as `distance(left,
/// right)` items ask for. Chains of operators stand exactly below each other, and so do the items of a long edge.
std::vector<double> positions_of(layered_graph const& g, double (*distance)(layer_item const&, layer_item const&));

}  // namespace ago::tools
