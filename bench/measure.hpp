// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fair timing of alternatives on a shared machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One of several ways to do the same thing.
struct candidate {
  std::string name;
  std::function<void()> run;
  std::function<double()> clock{};  ///< runs once and returns the seconds, if timing `run` would include communication
  /// Asked before and after: if either answer is no, the run is repeated, for up to 2 s, and then left out.
  std::function<bool()> undisturbed{};
};

/// Wall-clock seconds of one run.
struct timing {
  double median = 0, minimum = 0;
};

/// Seconds that every candidate takes, `repetitions` times in random order, so that disturbances affect all candidates
/// alike. Each turn runs the candidate twice and times the second run, so that it finds the caches as its own last run
/// left them, not the previous candidate.
std::vector<std::vector<double>> sample(std::vector<candidate> const& candidates, int repetitions);

timing summarise(std::vector<double> seconds);

/// The summaries of one sample.
std::vector<timing> measure(std::vector<candidate> const& candidates, int repetitions);

}  // namespace bench
