// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who gets the next trial: the region that is expected to gain most by it.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago::tuner {

/// What a region has cost and won so far. Gains are logarithms: 0.01 is one percent of the network's time.
class account {
 public:
  /// Before anything is known, a region may lose so much of its time, or gain it.
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
  /// By the next trial. Before anything is known: a tenth of its own time, by and by; then, what the last trials gave.
  double expected_gain() const { return recent_ + hope * share_ / (1 + trials_); }

 private:
  static constexpr double memory = 8;
  double share_, recent_ = 0;
  int trials_ = 0, idle_ = 0;
};

}  // namespace ago::tuner
