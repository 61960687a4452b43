// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the HTML page that need no script, and the data of those that do.
#pragma once

#include "inspection.hpp"

#include <ostream>
#include <span>

namespace ago::tools {

/// A table of figures and their meanings, with a column for each policy.
void write_figures(std::ostream& out, std::span<inspection const> all);

/// The steps and their costs.
void write_steps(std::ostream& out, inspection const& i);

/// What the scripts draw: JSON for a script element, a list with an object for each policy.
void write_data(std::ostream& out, std::span<inspection const> all);

}  // namespace ago::tools
