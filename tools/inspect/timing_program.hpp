// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program that --measure compiles: its text, and what it prints.
#pragma once

#include "inspection.hpp"

#include <ago/plan/options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ago::tools {

/// The text of a program that times a network, compiled in each of `ways`. The header "network.hpp", beside it, defines
/// the network, which `variable` names.
std::string timing_program(std::string const& variable, std::vector<options> const& ways);

/// Enters what it printed into the inspections, one for each program. The header may compute values in another order
/// than the graph that was inspected, where both are possible: so each step gets the time of the first one left with
/// the same kernels on values of the same extents. Throws std::runtime_error if the programs have other steps.
void enter_times(std::vector<inspection>& all, std::string_view printed);

}  // namespace ago::tools
