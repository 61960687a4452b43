// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formats of an inspection.
#pragma once

#include "inspection.hpp"

#include <ostream>
#include <span>

namespace ago::tools {

/// A table with a column of figures for each of the inspections, which are of the same network, and the steps of each.
void write_text(std::ostream& out, std::span<inspection const> all);

/// The figures as one JSON object. Weights follow Eq. (1), sizes are in bytes.
void write_json(std::ostream& out, inspection const& i);

/// For Graphviz: a cluster for each subgraph, which contains one for each mini-subgraph.
void write_dot(std::ostream& out, inspection const& i);

/// A self-contained page: the graph under one or two policies, side by side.
void write_html(std::ostream& out, std::span<inspection const> all);

}  // namespace ago::tools
