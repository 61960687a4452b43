// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each part of the library's policy gains: the plans with one part taken away.
#pragma once

#include "roomy_graph.hpp"

#include <ago/partition/device.hpp>

namespace bench {

/// Prints the head of a table with a column for each part.
void print_head_of_gains();

/// Prints a row: the megabytes that the plan moves from beyond L2 and its predicted milliseconds, with each part of the
/// library's policy taken away.
void print_gains(char const* name, roomy_graph const& g, ago::device const& on);

}  // namespace bench
