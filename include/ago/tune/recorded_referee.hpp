// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The referee of a real search: measures, logs, takes from the log what was measured before, and counts the budget.
#pragma once

#include <ago/tune/log.hpp>
#include <ago/tune/plot.hpp>
#include <ago/tune/progress.hpp>
#include <ago/tune/referee.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <string>

namespace ago::tuner {

/// Set by the signals that end a search before its time.
inline std::atomic<bool> interrupted = false;

class recorded_referee : public referee {
 public:
  /// `budget`: trials in all. `time_limit`: seconds of measurements, those in the log included; 0: none.
  recorded_referee(problem& p, log_file& log, progress& shown, int budget, double time_limit)
      : p_(p), log_(log), shown_(shown), budget_(budget), time_limit_(time_limit) {
    for (record const& r : log.found()) known_[key(r.contender, r.incumbent, r.runs_at_most)].push_back(r);
  }

  /// Of the budget, so many trials are not for now.
  void keep_back(int trials) { kept_back_ = trials; }

  std::optional<comparison> compare(std::string const& region, candidate const& contender, candidate const& incumbent,
                                    int runs) override {
    if (trials_left() <= 0) return std::nullopt;
    record const r = next(region, contender, incumbent, runs);
    if (r.result.runs > 0) count(r);
    return r.result;
  }
  /// Times are counted as they are logged, so that a search that goes on decides as it would have done.
  int trials_left() const override {
    if (interrupted) return 0;
    int const left = budget_ - kept_back_ - trials_;
    if (time_limit_ <= 0 || trials_ == 0) return left;
    return int(std::min(double(left), std::max(0., time_limit_ - spent_) / (spent_ / trials_)));
  }
  void improved(double gain) override {
    gained_ += gain;
    curve_.back().best = best();
  }

  int trials() const override { return trials_; }
  int resumed() const { return resumed_; }
  /// Seconds in which candidates ran, those of the log not counted: what the search takes beyond them is its overhead.
  double running() const { return running_; }
  /// Seconds of the incumbent of the first trial, the default; 0 before it.
  double usual() const { return usual_; }
  /// The default's seconds, less what every replacement has gained.
  double best() const { return usual_ * std::exp(-gained_); }
  std::vector<trial_point> const& curve() const { return curve_; }

 private:
  static std::string key(candidate const& a, candidate const& b, int runs) {
    return json::list(a) + json::list(b) + std::to_string(runs);
  }

  /// From the log, or measured and logged. Candidates that are the same program are not run, and not a trial.
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
    if (usual_ == 0) usual_ = r.result.incumbent;
    curve_.push_back({r.result.contender, best()});
    double const each = spent_ / trials_;
    shown_.show({trials_, budget_, usual_, best(), each * std::max(0, trials_left()), r.region});
  }

  problem& p_;
  log_file& log_;
  progress& shown_;
  int budget_, kept_back_ = 0;
  double time_limit_;
  std::map<std::string, std::deque<record>> known_;
  std::vector<trial_point> curve_;
  int trials_ = 0, resumed_ = 0;
  double spent_ = 0, running_ = 0, usual_ = 0, gained_ = 0;
};

}  // namespace ago::tuner
