// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The referee of a real search: measures, logs, reuses measurements from the log, and counts the budget.
#pragma once

#include <ago/tuner/log.hpp>
#include <ago/tuner/noise.hpp>
#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/plot.hpp>
#include <ago/tuner/progress.hpp>
#include <ago/tuner/referee.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <string>

namespace ago::tuner {

/// Set by the signals that end a search early.
inline std::atomic<bool> interrupted = false;

class recorded_referee : public referee {
 public:
  /// `budget`: total trials. `time_limit`: seconds of measurements, including those in the log; 0: none.
  recorded_referee(problem& p, log_file& log, progress& shown, int budget, double time_limit)
      : p_(p), log_(log), shown_(shown), budget_(budget), time_limit_(time_limit) {
    for (record const& r : log.found()) known_[key(r.contender, r.incumbent, r.runs_at_most)].push_back(r);
  }

  /// Reserves `trials` of the budget for later; each will take `length` times as long as the usual ones.
  void keep_back(int trials, double length = 1) {
    kept_back_ = trials;
    length_ = length;
  }

  std::optional<comparison> compare(std::string const& region, candidate const& contender, candidate const& incumbent,
                                    int runs) override {
    if (trials_left() <= 0) return std::nullopt;
    record const r = next(region, contender, incumbent, runs);
    if (r.result.runs > 0) count(r);
    return r.result;
  }
  /// Times are counted as logged, so that a resumed search decides as the original would have.
  int trials_left() const override {
    if (stopped()) return 0;
    int const left = budget_ - kept_back_ - trials_;
    if (time_limit_ <= 0 || trials_ == 0) return left;
    double const each = spent_ / trials_, seconds = time_limit_ - spent_ - kept_back_ * length_ * each;
    return int(std::min(double(left), std::max(0., seconds) / each));
  }
  void improved(double gain) override {
    gained_ += gain;
    curve_.back().best = best();
  }

  /// Has the search been ended before its budget is spent?
  virtual bool stopped() const { return interrupted; }

  int trials() const override { return trials_; }
  int resumed() const { return resumed_; }
  /// Seconds in which candidates ran, without those in the log; the rest of the search's time is overhead.
  double running() const { return running_; }
  /// Seconds of the incumbent of the first trial, the default: the median over all trials with it; 0 before.
  double usual() const { return usual_; }
  /// The default's seconds, minus the gains of all replacements.
  double best() const { return usual_ * std::exp(-gained_); }
  std::vector<trial_point> const& curve() const { return curve_; }
  noise_meter const& noise() const { return noise_; }

 private:
  static std::string key(candidate const& a, candidate const& b, int runs) {
    return json::list(a) + json::list(b) + std::to_string(runs);
  }

  /// From the log, or measured and logged. Candidates that are the same program are not run, and do not count as a
  /// trial.
  record next(std::string const& region, candidate const& contender, candidate const& incumbent, int runs) {
    auto& before = known_[key(contender, incumbent, runs)];
    if (!before.empty()) {
      record r = std::move(before.front());
      before.pop_front();
      ++resumed_;
      return r;
    }
    record r{region, contender, incumbent, runs, {}, 0};
    auto const start = std::chrono::steady_clock::now();
    r.result = p_.measure(contender, incumbent, runs);
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    running_ += r.result.running;
    if (r.result.runs > 0) log_.append(r);
    return r;
  }
  void count(record const& r) {
    ++trials_;
    spent_ += r.seconds;
    noise_.add(r.incumbent, r.result);
    if (trials_ == 1) first_ = r.incumbent;
    if (r.incumbent == first_) {
      usual_times_.push_back(r.result.incumbent);
      usual_ = median(usual_times_);
    }
    curve_.push_back({r.result.contender, best()});
    double const each = spent_ / trials_;
    shown_.show({trials_, budget_, usual_, best(), each * std::max(0, trials_left()), r.region});
  }

  problem& p_;
  log_file& log_;
  progress& shown_;
  int budget_, kept_back_ = 0;
  double time_limit_, length_ = 1;
  std::map<std::string, std::deque<record>> known_;
  std::vector<trial_point> curve_;
  noise_meter noise_;
  candidate first_;                  ///< incumbent of the first trial
  std::vector<double> usual_times_;  ///< its medians
  int trials_ = 0, resumed_ = 0;
  double spent_ = 0, running_ = 0, usual_ = 0, gained_ = 0;
};

}  // namespace ago::tuner
