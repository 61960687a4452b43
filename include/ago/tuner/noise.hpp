// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How quiet the machine was: in each trial, how much longer the same program took than at its fastest.
#pragma once

#include <ago/tuner/problem.hpp>
#include <ago/tuner/text.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ago::tuner {

/// Excess over the fastest run of the same program: .05 is 5 % longer.
struct noise_level {
  double usual = 0;  ///< exceeded in half of the trials
  double often = 0;  ///< exceeded in a tenth of the trials

  /// If so, gains of a few per cent are not found, and times say little about the machine when idle.
  bool is_large() const { return usual > .2 || often > .5; }
};

/// Records the incumbents of all trials, which run repeatedly.
class noise_meter {
 public:
  void add(candidate const& incumbent, comparison const& c) {
    auto const [known, added] = fastest_.try_emplace(incumbent, c.incumbent_least);
    if (!added) known->second = std::min(known->second, c.incumbent_least);
    trials_.push_back({&known->second, c.incumbent});
  }
  std::size_t trials() const { return trials_.size(); }

  noise_level level() const {
    std::vector<double> excess;
    for (trial const& t : trials_)
      if (*t.fastest > 0) excess.push_back(t.median / *t.fastest - 1);
    if (excess.empty()) return {};
    std::sort(excess.begin(), excess.end());
    return {excess[excess.size() / 2], excess[excess.size() - 1 - excess.size() / 10]};
  }

 private:
  struct trial {
    double const* fastest;  ///< in fastest_
    double median;
  };
  std::map<candidate, double, earlier> fastest_;
  std::vector<trial> trials_;
};

/// "the same program took 3 % longer than at its fastest in the median trial, 12 % in one of ten"
inline std::string in_words(noise_level const& n) {
  return print("the same program took %.0f %% longer than at its fastest in the median trial, %.0f %% in one of ten",
               100 * n.usual, 100 * n.often);
}

}  // namespace ago::tuner
