// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs steps with a thread pool, which waits only where steps do (plan/step_split.hpp).
#pragma once

#include <ago/plan/step_split.hpp>

namespace ago::runtime {

/// A thread pool, ago::team or a user's own: run(n, f) calls f(0), ..., f(n - 1) on any threads, and returns
/// when all calls have returned.
template <class Team>
concept runs_pieces = requires(Team& team, void (*f)(int)) { team.run(2, f); };

/// Computes `steps` steps: waits_of(k) is what step k waits for, pieces_of(k) the number of its work items, and
/// compute(k, i) computes one of them.
template <runs_pieces Team>
void run_phases(int steps, auto const& waits_of, auto const& pieces_of, auto const& compute, Team& team) noexcept {
  auto const end_of_strand = [&](int k) {
    do ++k;
    while (k < steps && waits_of(k) == waits::own);
    return k;
  };
  for (int begin = 0, end = 0; begin < steps; begin = end) {
    int count = 0;
    do {
      count += pieces_of(end);
      end = end_of_strand(end);
    } while (end < steps && waits_of(end) == waits::nothing);
    auto const item = [&](int i) {
      int k = begin;
      for (; i >= pieces_of(k); k = end_of_strand(k)) i -= pieces_of(k);
      for (int const last = end_of_strand(k); k < last; ++k) compute(k, i);
    };
    if (count == 1) item(0);
    else team.run(count, item);
  }
}

}  // namespace ago::runtime
