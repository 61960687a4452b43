// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured times of a network: compiled and run on this machine.
#pragma once

#include "arguments.hpp"
#include "inspection.hpp"

#include <vector>

namespace ago::tools {

/// Compiles the network of `a` in each of its ways, into one program, runs it, and enters the times into `all`, the
/// inspections of the same ways. Reports its progress to standard error. Files are in a temporary folder, which remains
/// if something fails. Throws std::runtime_error.
void measure(arguments const& a, std::vector<inspection>& all);

}  // namespace ago::tools
