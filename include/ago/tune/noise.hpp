// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How quiet the machine was: how much longer than at its fastest one and the same program took, trial after trial.
#pragma once

#include <ago/tune/problem.hpp>
#include <ago/tune/text.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ago::tuner {

/// Excess over the fastest run of the same program: .05 is 5 % longer.
struct noise_level {
  double usual = 0;  ///< in half of the trials it was more
  double often = 0;  ///< in a tenth of them

  /// Gains of some per cent are not found then, and times say little about a machine at rest.
  bool is_large() const { return usual > .2 || often > .5; }
};

/// Watches the incumbents of all trials: what is run again and again.
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
