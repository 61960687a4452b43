// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time of every policy at run time on networks of up to a million operators.
#pragma once

namespace bench {

/// Prints a table, with microseconds of processor time per operator on several kinds of networks.
void print_scaling();

/// The same table without the times.
void print_scaling_networks();

}  // namespace bench
