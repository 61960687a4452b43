// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which of two programs is faster: runs in turns, and a rank test on the differences.
#pragma once

#include <ago/tuner/problem.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace ago::tuner {

/// The median; 0 for an empty list.
inline double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// Wilcoxon's signed-rank test (1945): one minus the probability that equal programs give differences as clearly
/// positive as these. Exact without ties; a tie counts half. Without differences, 0.5.
inline double confidence_of(std::vector<double> differences) {
  differences.erase(std::remove(differences.begin(), differences.end(), 0.), differences.end());
  std::size_t const n = differences.size();
  if (n == 0) return .5;
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::size_t sum = 0;  // of the ranks of positive ones
  for (std::size_t i = 0; i < n; ++i) sum += differences[i] > 0 ? i + 1 : 0;
  std::vector<double> share(n * (n + 1) / 2 + 1);  // of all signs, those with this sum
  share[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t s = share.size(); s-- > 0;) share[s] = (share[s] + (s >= rank ? share[s - rank] : 0)) / 2;
  double below = share[sum] / 2;
  for (std::size_t s = 0; s < sum; ++s) below += share[s];
  return below;
}

/// Seconds per call of `run`, averaged over `repetitions` calls in a row.
template <class Clock = std::chrono::steady_clock>
double seconds_of(auto const& run, int repetitions) {
  auto const start = Clock::now();
  for (int i = 0; i < repetitions; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count() / repetitions;
}

/// One timing takes at least 200 us, so that the clock and its call do not distort it.
inline constexpr double least_timing = 200e-6;
inline constexpr int most_repetitions = 1 << 16;

/// Times both alternately, starting with each in turn, after a warm-up run of each: at most `runs` timings of each.
/// `exchange` is called after four and then after every eight pairs: it should make the two swap their places in
/// memory, so that these favour neither. The comparison ends early when eight pairs or more show with a confidence of
/// 99.5 % which one is faster, or when after twelve the medians differ by less than 0.2 % and the signs show nothing.
/// Repeated testing makes an error slightly more likely than the confidence says.
template <class Clock = std::chrono::steady_clock, class Exchange>
comparison compare(auto const& contender, auto const& incumbent, int runs, Exchange const& exchange) {
  comparison r;
  auto const take = [&r](auto const& run, int times) {
    double const seconds = seconds_of<Clock>(run, times);
    r.running += seconds * times;
    return seconds;
  };
  int repetitions = 1;
  while (take(incumbent, repetitions) * repetitions < least_timing && repetitions < most_repetitions) repetitions *= 2;
  take(contender, 1);
  std::vector<double> first, second, differences;
  for (int pairs = 1; pairs <= runs; ++pairs) {
    double a, b;
    if (pairs % 2) {
      a = take(contender, repetitions);
      b = take(incumbent, repetitions);
    } else {
      b = take(incumbent, repetitions);
      a = take(contender, repetitions);
    }
    first.push_back(a);
    second.push_back(b);
    differences.push_back(b - a);
    if (pairs >= 8 && pairs % 2 == 0) {
      double const confidence = confidence_of(differences);
      if (confidence > .995 || confidence < .005) break;
      bool const alike = std::abs(median(first) / median(second) - 1) < .002 && confidence > .1 && confidence < .9;
      if (pairs >= 12 && alike) break;
    }
    if (pairs % 8 == 4 && pairs < runs) {
      exchange();
      take(contender, 1);
      take(incumbent, 1);
    }
  }
  r.contender = median(first);
  r.incumbent = median(second);
  r.contender_least = first.empty() ? 0 : *std::min_element(first.begin(), first.end());
  r.incumbent_least = second.empty() ? 0 : *std::min_element(second.begin(), second.end());
  r.confidence = confidence_of(std::move(differences));
  r.runs = int(first.size());
  return r;
}
template <class Clock = std::chrono::steady_clock>
comparison compare(auto const& contender, auto const& incumbent, int runs) {
  return compare<Clock>(contender, incumbent, runs, [] {});
}

}  // namespace ago::tuner
