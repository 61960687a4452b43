// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of a plan's steps: kernels, multiply-adds, bytes.
#pragma once

#include "entry.hpp"

#include <ago/partition/tiling.hpp>
#include <ago/plan/plan.hpp>

#include <span>

namespace bench {

/// One step. The parts of a pipeline count as one; values that only pass between parts count no bytes.
step_account account_for(graph_view const& graph, std::span<ago::plan::planned_step const> parts, ago::tiling how);

/// The usual device of an instruction set, or the preset of this core if it is known, with the sizes
/// of this machine's caches as far as the system tells.
ago::device device_here(ago::isa target);

}  // namespace bench
