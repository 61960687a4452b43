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

/// Enters what it printed into the inspections, one for each program. Throws std::runtime_error if the programs have
/// other steps: then its headers are those of another version of ago.
void enter_times(std::vector<inspection>& all, std::string_view printed);

}  // namespace ago::tools
