// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the HTML page.
#pragma once

#include "drawing.hpp"
#include "inspection.hpp"

#include <ostream>
#include <span>
#include <vector>

namespace ago::tools {

/// The graph as SVG. An operator is a group of class "op", with its node number as data-op and its subgraph's hue.
void write_graph(std::ostream& out, inspection const& i, drawing const& d);

/// A table of figures, with a row for each policy.
void write_figures(std::ostream& out, std::span<inspection const> all);

/// The meanings of these figures.
void write_meanings(std::ostream& out, inspection const& i);

/// The steps and their costs.
void write_steps(std::ostream& out, inspection const& i);

/// The subgraphs; also the legend of the colours.
void write_subgraphs(std::ostream& out, inspection const& i);

/// The graph that each of `all` is drawn on: the index of the first one with the same operators.
std::vector<std::size_t> graphs_of(std::span<inspection const> all);

/// The script's data about operators and policies: JSON for a script element.
void write_data(std::ostream& out, std::span<inspection const> all);

}  // namespace ago::tools
