// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which of two candidates is faster, and when the budget is spent.
#pragma once

#include <ago/tuner/problem.hpp>
#include <ago/tuner/settings.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace ago::tuner {

class referee {
 public:
  virtual ~referee() = default;
  /// One trial, on behalf of a region; none once the budget is spent.
  virtual std::optional<comparison> compare(std::string const& region, candidate const& contender,
                                            candidate const& incumbent, int runs) = 0;
  virtual int trials() const = 0;  ///< made so far
  virtual int trials_left() const = 0;
  /// The best candidate so far has been replaced; `gain` is ln(time of the old one / time of the new one).
  virtual void improved(double gain) = 0;
};

/// The result of a contender against an incumbent.
struct outcome {
  double ratio = 0;  ///< ln(contender / incumbent)
  bool wins = false;
};

inline double logarithm_of_ratio(comparison const& c) {
  return c.contender > 0 && c.incumbent > 0 ? std::log(c.contender / c.incumbent) : 0;
}
inline bool is_faster(comparison const& c, double confidence) {
  return c.contender < c.incumbent && c.confidence >= confidence;
}

/// A contender that seems faster is measured again, and replaces the incumbent only if it is faster again: the first
/// time is biased in its favour, as the best of many. None once the budget is spent.
inline std::optional<outcome> challenge(referee& judge, settings const& s, std::string const& region,
                                        candidate const& contender, candidate const& incumbent) {
  std::optional<comparison> const first = judge.compare(region, contender, incumbent, s.runs);
  if (!first) return std::nullopt;
  outcome result{logarithm_of_ratio(*first), false};
  if (!is_faster(*first, s.confidence)) return result;
  std::optional<comparison> const second = judge.compare(region, contender, incumbent, s.runs);
  if (!second) return result;
  result.ratio = logarithm_of_ratio(*second);
  result.wins = is_faster(*second, s.confidence);
  return result;
}

}  // namespace ago::tuner
