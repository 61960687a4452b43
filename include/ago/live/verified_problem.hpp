// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a problem whose candidates must compute what the default computes.
#pragma once

#include <ago/simd/flush_denormals.hpp>
#include <ago/tuner/network_problem.hpp>
#include <ago/tuner/thread_clock.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ago::live {

template <auto const& Net, options_for Options>
class verified_problem : public tuner::network_problem<Net, Options, tuner::thread_clock> {
  using base = tuner::network_problem<Net, Options, tuner::thread_clock>;

 public:
  using program_type = typename base::program_type;

  /// `tolerance`: as exploration::tolerance. Once `stop` is set, nothing is run any more, and what was being measured
  /// counts as equal.
  verified_problem(std::string name, tuner::samples const& with, float tolerance, std::atomic<bool> const& stop,
                   tuner::menu_view const& kernels)
      : base(std::move(name), with, kernels), tolerance_(tolerance), stop_(stop) {
    auto const p = this->make(this->candidate_of_usual(), nullptr);
    run(*p);
    expected_ = this->outputs();
  }

  bool feasible(tuner::candidate const& c) override { return !wrong_.contains(c) && base::feasible(c); }
  tuner::comparison measure(tuner::candidate const& contender, tuner::candidate const& incumbent, int runs) override {
    tuner::comparison const r = base::measure(contender, incumbent, runs);
    return stop_ ? tuner::comparison{1, 1, 1, 1, .5, 0} : r;
  }

  /// The candidate in memory of its own, after a run there; null if its results are wrong.
  std::unique_ptr<program_type> verified(tuner::candidate const& c) {
    auto p = this->make(c, nullptr);
    return admits(c, *p) ? std::move(p) : nullptr;
  }
  /// Candidates whose results were wrong. Can be called by any thread.
  int wrong() const noexcept { return wrong_count_.load(std::memory_order_relaxed); }

 protected:
  void run(program_type& p) override {
    if (stop_) return;
    [[maybe_unused]] environment const as_the_user_runs_it{};
    base::run(p);
  }
  bool admits(tuner::candidate const& c, program_type& p) override {
    constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
    std::ranges::fill(p.scratch(), nothing);  // what is not computed must not look right
    for (std::vector<float>& x : this->outputs()) std::ranges::fill(x, nothing);
    run(p);
    bool const right = are_as_expected();
    if (!right && !stop_) wrong_.insert(c);
    wrong_count_.store(int(wrong_.size()), std::memory_order_relaxed);
    return right;
  }

 private:
  struct as_it_is {};
  /// A trainer flushes denormals.
  using environment = std::conditional_t<Options.storage == storage::trained, simd::flush_denormals, as_it_is>;

  static float largest(std::vector<float> const& x) {
    float r = 0;
    for (float const v : x) r = std::max(r, std::fabs(v));
    return r;
  }
  bool are_as_expected() {
    float all = 0;
    for (std::vector<float> const& x : expected_) all = std::max(all, largest(x));
    for (std::size_t k = 0; k < expected_.size(); ++k) {
      std::vector<float> const &want = expected_[k], &got = this->outputs()[k];
      float const allowed = tolerance_ * std::max(largest(want), all / 16);
      for (std::size_t i = 0; i < want.size(); ++i)
        if (!(std::fabs(got[i] - want[i]) <= allowed)) return false;  // also NaN
    }
    return true;
  }

  float tolerance_;
  std::atomic<bool> const& stop_;
  std::vector<std::vector<float>> expected_;
  std::set<tuner::candidate, tuner::earlier> wrong_;
  std::atomic<int> wrong_count_ = 0;
};

}  // namespace ago::live
