// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which region gets the next trial: the one with the largest expected gain.
#pragma once

#include <ago/requirements.hpp>

namespace ago::tuner {

/// The trials that a region has used, and what they gained. Gains are logarithms: 0.01 is one percent of the network's
/// time.
class account {
 public:
  /// The fraction of its time that a region may gain or lose, before anything is known.
  static constexpr double hope = .1;

  /// `share`: of the network's weight, 0 ... 1.
  explicit account(double share = 0) : share_(share) {}

  void book(double gain) {
    ++trials_;
    idle_ = gain > 0 ? 0 : idle_ + 1;
    recent_ += ((gain > 0 ? gain : 0) - recent_) / memory;
  }
  double share() const { return share_; }
  int trials() const { return trials_; }
  int idle() const { return idle_; }  ///< trials since the last gain
  /// The expected gain of the next trial: at first, a tenth of the region's own time spread over its trials; then, what
  /// the last trials gained.
  double expected_gain() const { return recent_ + hope * share_ / (1 + trials_); }

 private:
  static constexpr double memory = 8;
  double share_, recent_ = 0;
  int trials_ = 0, idle_ = 0;
};

}  // namespace ago::tuner
