// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formats of an inspection.
#pragma once

#include "inspection.hpp"

#include <ostream>
#include <span>

namespace ago::tools {

/// A table of figures with a column for each of the inspections, which are of one network, and the steps of each.
void write_text(std::ostream& out, std::span<inspection const> all);

/// The figures as one JSON object. Weights are Eq. (1), bytes are bytes.
void write_json(std::ostream& out, inspection const& i);

/// For Graphviz: a cluster for each subgraph, and in it one for each mini-subgraph.
void write_dot(std::ostream& out, inspection const& i);

/// A page that needs nothing else: the graph by one or two policies, side by side.
void write_html(std::ostream& out, std::span<inspection const> all);

}  // namespace ago::tools
