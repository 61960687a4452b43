// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions that depend on places, or whose indices are values.
#pragma once

#include "lowering.hpp"

namespace ago::importer {

/// Whether the data and the indices of a GatherElements differ along its axis only.
bool fit_along_axis(node_reader const& n);
/// Such a GatherElements. Its indices may be known at run time only.
view taken_along_axis(node_reader const& n);

}  // namespace ago::importer
