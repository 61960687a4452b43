// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides by the times of a user's own runs whether a new program stays in place of the old one.
#pragma once

#include <ago/requirements.hpp>

#include <algorithm>
#include <cstdint>

namespace ago::live {

enum class verdict : std::uint8_t { open, older, newer };

/// The two take turns of a few runs, of which the first do not count: they find the caches as the other one left them.
/// The new program was faster where it was found, so it must only not be slower here: it stays if its median is at most
/// a hundredth above the old one's. A turn a quarter above ends the duel at once.
class duel {
 public:
  static constexpr int turn = 8, warm_up = 2, turns = 4;  ///< runs; runs that do not count; turns of each
  static constexpr double margin = 1.01, outrageous = 1.25;

  /// Is the next run the new program's?
  bool newer_runs() const { return run_ / turn % 2 == 1; }

  /// Records what a run took, in seconds.
  verdict add(double seconds) {
    bool const newer = newer_runs();
    int const in_turn = run_++ % turn;
    if (in_turn >= warm_up) times_[newer][count_[newer]++] = seconds;
    if (!newer || in_turn + 1 < turn) return verdict::open;
    constexpr int counted = turn - warm_up;
    if (median(times_[1] + count_[1] - counted, counted) > outrageous * median(times_[0], count_[0]))
      return verdict::older;
    if (run_ < 2 * turns * turn) return verdict::open;
    return median(times_[1], count_[1]) <= margin * median(times_[0], count_[0]) ? verdict::newer : verdict::older;
  }

 private:
  static double median(double const* times, int count) {
    double sorted[turns * turn];
    std::copy(times, times + count, sorted);
    std::nth_element(sorted, sorted + count / 2, sorted + count);
    return sorted[count / 2];
  }

  double times_[2][turns * turn] = {};  ///< of the old program's runs, and of the new one's
  int count_[2] = {};
  int run_ = 0;
};

}  // namespace ago::live
