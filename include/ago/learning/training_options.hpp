// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a network is trained: the constants of a training program.
#pragma once

#include <ago/learning/name_pattern.hpp>
#include <ago/plan/options.hpp>

#include <cstddef>

namespace ago::learning {

/// Options of a trainer. Parameters are trained whose name matches `train` and does not match `freeze`. A batch norm
/// none of whose parameters are trained uses its running statistics, which stay as they are.
struct training {
  int batch = 1;       ///< examples of a step: inputs have so many times the images of the network's
  int accumulate = 1;  ///< calls of step() whose gradients are averaged before an update
  name_pattern train = "*", freeze = "";
  options program = {};  ///< instruction set, policy, device
  /// The bytes that trainer::arena_bytes may be; 0: any number. Where it would be larger, values that the backward part
  /// reads are computed again.
  std::size_t activation_bytes = 0;

  bool operator==(training const&) const = default;
};

}  // namespace ago::learning

namespace ago {
using learning::training;
}  // namespace ago
