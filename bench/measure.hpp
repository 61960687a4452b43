// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fair timing of alternatives on a machine that others use too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One of several ways to do the same thing.
struct candidate {
  std::string name;
  std::function<void()> run;
  std::function<double()> clock{};  ///< runs once and gives the seconds, where the way there would be timed as well
};

/// Wall-clock seconds of one run.
struct timing {
  double median = 0, minimum = 0;
};

/// Seconds that every candidate takes, `repetitions` times in random order, so that what disturbs the machine meets
/// them all alike. Each turn runs the candidate twice and times the second run: caches are as its own last run has left
/// them, not as the candidate drawn before it did.
std::vector<std::vector<double>> sample(std::vector<candidate> const& candidates, int repetitions);

timing summarise(std::vector<double> seconds);

/// The summaries of one sample.
std::vector<timing> measure(std::vector<candidate> const& candidates, int repetitions);

/// Binds this thread, and those it starts, to a core and asks for the real-time class. Says what it got.
std::string claim_core(int core);

}  // namespace bench
