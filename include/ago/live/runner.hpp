// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the best program that is known so far; better ones enter between runs.
#pragma once

#include <ago/live/duel.hpp>
#include <ago/live/exchange.hpp>
#include <ago/tuner/thread_clock.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace ago::live {

/// NeoFlow's function cache (section 6.2), with a whole program in it: how one step is computed affects the memory and
/// the packed weights of others. The clock counts what this thread computes, however busy the machine is.
template <class Program, class Clock = tuner::thread_clock>
class runner {
 public:
  explicit runner(std::unique_ptr<Program> first) : current_(new parcel<Program>{std::move(first)}) {}
  runner(runner const&) = delete;
  runner& operator=(runner const&) = delete;
  ~runner() {
    delete current_;
    delete next_;
  }

  /// Calls once(program) with the current program, or with the new one if it is its turn. Neither waits nor allocates.
  template <class Once>
  void run(Once const& once) noexcept {
    if (!next_) {
      next_ = programs.take();
      if (!next_) return once(*current_->program);
      duel_ = {};
    }
    Program& chosen = *(duel_.newer_runs() ? next_ : current_)->program;
    auto const start = Clock::now();
    once(chosen);
    settle(duel_.add(std::chrono::duration<double>(Clock::now() - start).count()));
  }

  /// To be used by the thread that explores.
  exchange<Program> programs;
  /// New programs that have stayed, and that were sent back because they were slower here.
  int entered() const noexcept { return entered_.load(std::memory_order_relaxed); }
  int sent_back() const noexcept { return sent_back_.load(std::memory_order_relaxed); }

 private:
  void settle(verdict v) noexcept {
    if (v == verdict::open) return;
    if (v == verdict::newer) std::swap(current_, next_);
    programs.give_back(std::exchange(next_, nullptr));
    (v == verdict::newer ? entered_ : sent_back_).fetch_add(1, std::memory_order_relaxed);
  }

  parcel<Program>* current_;
  parcel<Program>* next_ = nullptr;
  duel duel_;
  std::atomic<int> entered_ = 0, sent_back_ = 0;
};

}  // namespace ago::live
