// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time of CLUSTER at run time on networks of up to a hundred thousand operators.
#pragma once

namespace bench {

/// Prints a table, with the milliseconds of processor time on networks of two kinds of blocks.
void print_scaling();

}  // namespace bench
