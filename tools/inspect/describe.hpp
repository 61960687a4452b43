// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operator is, in words: everything but its kind and its extents.
#pragma once

#include <ago/graph/graph.hpp>

#include <string>

namespace ago::tools {

/// "3x3, stride 2, pads 1 1 1 1, 4 groups"; empty where there is nothing to say.
std::string describe(node const& n);

}  // namespace ago::tools
