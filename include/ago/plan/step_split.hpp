// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How steps are divided into work items that run concurrently.
#pragma once

#include <ago/ir/array_of.hpp>
#include <ago/plan/schedule.hpp>

namespace ago::plan {

/// How a step or a pipeline is divided.
struct step_split {
  split how = split::none;
  int pieces = 1;
  int granule = 1;  ///< work items begin at multiples of it
  bool operator==(step_split const&) const = default;
};

/// What the work items of a step wait for. Steps that do not wait for all share a barrier.
enum class waits : std::uint8_t {
  all,      ///< for all work items before them: there is a barrier before the step
  own,      ///< for the same work item of the step before, after which the same thread computes it
  nothing,  ///< since the last barrier: they are computed side by side with those of the steps before
};

/// How each step or pipeline is divided, and what it waits for.
template <int Capacity>
struct split_list {
  array_of<step_split, Capacity> of{};
  array_of<waits, Capacity> waits_for{};
};

}  // namespace ago::plan

namespace ago {
using plan::waits;
}  // namespace ago
