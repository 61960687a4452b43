// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each part of the library's policy gains, by the plans.
#pragma once

#include <ago/partition/device.hpp>

namespace bench {

/// Prints a table: for each network at 224 (BERT-tiny with 128 tokens), the megabytes that the plan moves from beyond
/// L2 and its predicted milliseconds, with each part of the library's policy taken away.
void print_gains(ago::device const& on);

}  // namespace bench
