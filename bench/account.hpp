// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the steps of a plan do: which kernels, how many multiply-adds, how many bytes.
#pragma once

#include "entry.hpp"

#include <ago/partition/tiling.hpp>
#include <ago/plan/plan.hpp>

#include <span>

namespace bench {

/// One step, the parts of a pipeline together: values that only pass from part to part count no bytes.
step_account account_for(graph_view const& graph, std::span<ago::planned_step const> parts, ago::tiling how);

}  // namespace bench
