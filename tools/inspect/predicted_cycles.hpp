// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lower bound of a step's cycles: a figure to compare steps by, not a time.
#pragma once

#include <ago/graph/isa.hpp>
#include <ago/plan/account.hpp>

#include <algorithm>

namespace ago::tools {

/// Bytes per cycle from beyond L2: the rate that the schedules assume (plan/matrix_schedule.hpp).
inline constexpr double bytes_per_cycle = 8;

/// Multiplications of the direct algorithm per multiplication of Winograd's: 3x3 taps for each result of a tile, over
/// the points of the transformed tile.
constexpr double saved_by_winograd(structure what) {
  if (what == structure::winograd_2) return 2. * 2 * 9 / (4 * 4);
  if (what == structure::winograd_4) return 4. * 4 * 9 / (6 * 6);
  return 1;
}

/// Two multiply-adds of a register per cycle, or the bytes that pass through memory, whichever takes longer.
inline double predicted_cycles(step_account const& a, structure what, isa target) {
  double const products = double(a.multiply_adds) / saved_by_winograd(what) / (2 * lanes(target));
  return std::max(products, double(a.bytes()) / bytes_per_cycle);
}

}  // namespace ago::tools
