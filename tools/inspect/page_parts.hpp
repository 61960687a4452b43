// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the HTML page.
#pragma once

#include "drawing.hpp"
#include "inspection.hpp"

#include <ostream>
#include <span>
#include <vector>

namespace ago::tools {

/// The graph as SVG. An operator is a group with class "op", the number of its node as data-op, and its subgraph's hue.
void write_graph(std::ostream& out, inspection const& i, drawing const& d);

/// A table of figures, with a row for each policy.
void write_figures(std::ostream& out, std::span<inspection const> all);

/// What these figures mean.
void write_meanings(std::ostream& out, inspection const& i);

/// The steps, with what they cost.
void write_steps(std::ostream& out, inspection const& i);

/// The subgraphs, which are the colours' legend.
void write_subgraphs(std::ostream& out, inspection const& i);

/// Which graph each of `all` has, and is drawn on: the number of the first one with the same operators.
std::vector<std::size_t> graphs_of(std::span<inspection const> all);

/// What the script has to know of the operators and of what each policy does with them: JSON for a script element.
void write_data(std::ostream& out, std::span<inspection const> all);

}  // namespace ago::tools
