// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time of each step of a run.
#pragma once

#include <ago/requirements.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace ago::tuner {

/// Calls run_step(0), run_step(1), ..., one for each element of `seconds`, and appends to it what the step took. Each
/// step finds the caches as the step before it left them. The clock is read once between two steps, and a time is the
/// difference of two readings: it includes one, which takes some 20 to 50 ns.
void time_steps(auto const& run_step, std::vector<std::vector<double>>& seconds) {
  using clock = std::chrono::steady_clock;
  std::vector<clock::time_point> at(seconds.size() + 1);
  at[0] = clock::now();
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    run_step(int(k));
    at[k + 1] = clock::now();
  }
  for (std::size_t k = 0; k < seconds.size(); ++k)
    seconds[k].push_back(std::chrono::duration<double>(at[k + 1] - at[k]).count());
}

}  // namespace ago::tuner
