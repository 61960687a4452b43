// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that the plans of all policies move beyond the L2 of a device.
#pragma once

#include "roomy_graph.hpp"

#include <ago/partition/device.hpp>

namespace bench {

/// Prints a row: megabytes for each policy.
void print_moved(char const* name, int size, roomy_graph const& g, ago::device const& on);

}  // namespace bench
