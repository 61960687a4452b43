// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How steps are divided into work items that run concurrently.
#pragma once

#include <ago/plan/schedule.hpp>

namespace ago {

/// How a step or a pipeline is divided.
struct step_split {
  split how = split::none;
  int pieces = 1;
  int granule = 1;  ///< work items begin at multiples of it
  bool operator==(step_split const&) const = default;
};

/// How each step or pipeline is divided.
template <int Capacity>
struct split_list {
  step_split of[Capacity]{};
};

}  // namespace ago
