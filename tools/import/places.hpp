// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions that depend on places, or whose indices are values.
#pragma once

#include "lowering.hpp"

namespace ago::importer {

/// GatherElements with indices that are only known at run time.
view taken_along_axis(node_reader const& n);

}  // namespace ago::importer
