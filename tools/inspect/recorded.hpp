// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks from a recorder, of any size.
#pragma once

#include "inspect.hpp"
#include "trace.hpp"

#include <vector>

namespace ago::tools {

/// The inspections, in each of `ways`, of a network that was recorded without a fault, after all passes. Throws
/// std::length_error if it has more than 16,384 operators or 49,152 operands.
std::vector<inspection> inspect_recorded(ago::tracing::recorder const& made, std::vector<options> const& ways);

// Compiled once, because it takes long.
extern template inspection inspect(decltype(roomy_graph::value) const&, options const&);

}  // namespace ago::tools
