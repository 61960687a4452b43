// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether several threads have a core each at the moment.
#pragma once

#include "own_cores.hpp"
#include "peak.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace bench {

/// Tells by a short loop of multiply-adds. A virtual machine's processors are sometimes two hardware threads of one
/// core, and then two loops side by side take twice as long as one, until the host moves them apart.
class free_cores {
 public:
  explicit free_cores(ago::team& workers) : team_(workers) {}

  int threads() const { return team_.threads(); }

  /// Do loops on all threads, side by side, take at most 6 % longer than the same loop alone? (Beside the 0.2 us that a
  /// team needs to begin and to end. Of a few each, the shortest: the first ones wake the threads.)
  bool operator()() {
    double alone = HUGE_VAL, together = HUGE_VAL;
    for (int i = 0; i < 3; ++i) alone = std::min(alone, seconds([] { loop(); }));
    for (int i = 0; i < 5; ++i)
      together = std::min(together, seconds([this] { team_.run(team_.threads(), [](int) { loop(); }); }));
    bool const free = together < 1.06 * alone + .2e-6;
    ++asked_;
    free_ += free;
    return free;
  }
  /// The share of all calls that found the cores free.
  double share() const { return asked_ > 0 ? double(free_) / double(asked_) : 1; }

 private:
  static double seconds(auto const& work) {
    using clock = std::chrono::steady_clock;
    auto const start = clock::now();
    work();
    return std::chrono::duration<double>(clock::now() - start).count();
  }

  static void loop() { peak_loop(4000); }  // about 6 us

  ago::team& team_;
  long asked_ = 0, free_ = 0;
};

}  // namespace bench
