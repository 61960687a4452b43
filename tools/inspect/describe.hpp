// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptions of operators: everything except kind and extents.
#pragma once

#include <ago/ir/graph.hpp>

#include <string>

namespace ago::tools {

/// "3x3, stride 2, pads 1 1 1 1, 4 groups"; may be empty.
std::string describe(ir::node const& n);

}  // namespace ago::tools
