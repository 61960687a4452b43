// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cycles on a big core that issues out of order: Cortex-A76.
#pragma once

#include "instruction.hpp"

#include <algorithm>
#include <array>

namespace ruler {

/// Every access hits L1. Widths and latencies are those of LLVM's model of Neoverse N1, which is the same core, and of
/// Arm's Neoverse N1 Software Optimization Guide (PJDOC-466751330-9707): 4 instructions a cycle, 128 in flight; 2 pipes
/// for vectors, 2 for loads and stores, 3 for integers, 1 for branches. A multiply-add takes 4 cycles, 2 to the
/// accumulator of the next. A store of 128 bits takes two operations of the vector pipes by str, one by st1.
class out_of_order_core {
 public:
  static constexpr int mispredicted = 8;  ///< cycles from the branch's own end to the next instruction: 11 in all

  std::uint64_t now() const { return committed_; }
  void mispredict() { fetch_from_ = std::max(fetch_from_, last_end_ + mispredicted); }

  void issue(instruction const& i) {
    if (dispatched_ >= width) next_dispatch(dispatch_ + 1);
    if (fetch_from_ > dispatch_) next_dispatch(fetch_from_);
    if (done_[index_ % in_flight] > dispatch_) next_dispatch(done_[index_ % in_flight]);
    ++dispatched_;
    std::uint64_t start = dispatch_ + 1;
    for (int k = 0; k < i.source_count; ++k) start = std::max(start, ready_[i.sources[k]]);
    if (i.accumulator != no_register) start = std::max(start, forwarded_[i.accumulator]);
    end_ = start;
    execute(i, start);
    if (i.writes_base) ready_[i.base] = integer_.take(std::max(dispatch_ + 1, ready_[i.base])) + 1;
    std::uint64_t const forwarded = i.unit == unit::multiply_add ? end_ - 2 : end_;
    for (int k = 0; k < i.result_count; ++k) {
      ready_[i.results[k]] = end_;
      forwarded_[i.results[k]] = forwarded;
    }
    committed_ = std::max(committed_, end_);
    done_[index_++ % in_flight] = committed_;
    last_end_ = end_;
  }

 private:
  static constexpr int width = 4, in_flight = 128;

  /// Pipes of one type: which cycles are taken, in a window that is far longer than what is in flight.
  class pipes {
   public:
    explicit pipes(int count) : count_{std::uint8_t(count)} { cycles_.fill(~std::uint64_t(0)); }
    /// The first free cycle, which it takes.
    std::uint64_t take(std::uint64_t from) {
      for (std::uint64_t t = from;; ++t) {
        std::size_t const k = t % cycles_.size();
        if (cycles_[k] != t) cycles_[k] = t, taken_[k] = 0;
        if (taken_[k] < count_) return ++taken_[k], t;
      }
    }

   private:
    std::uint8_t count_;
    std::array<std::uint64_t, 1 << 13> cycles_;
    std::array<std::uint8_t, 1 << 13> taken_{};
  };

  void next_dispatch(std::uint64_t cycle) { dispatch_ = cycle, dispatched_ = 0; }

  void occupy(pipes& p, std::uint64_t start, int operations, int latency) {
    for (int k = 0; k < operations; ++k) end_ = std::max(end_, p.take(start) + unsigned(latency));
  }

  void execute(instruction const& i, std::uint64_t start) {
    switch (i.unit) {
      case unit::load_whole:
      case unit::load_half: return occupy(memory_, start, i.moved, 5);
      case unit::load_general: return occupy(memory_, start, 1, 4);
      case unit::store_general: return occupy(memory_, start, 1, 1);
      case unit::store_whole: occupy(memory_, start, i.moved, 1); return occupy(vector_, start, 2 * i.moved, 2);
      case unit::store_half:
      case unit::store_whole_structure: occupy(memory_, start, i.moved, 1); return occupy(vector_, start, i.moved, 2);
      case unit::multiply_add: return occupy(vector_, start, 1, 4);
      case unit::multiply: return occupy(vector_, start, 1, 3);
      case unit::add:
      case unit::move: return occupy(vector_, start, 1, 2);
      case unit::divide: return occupy(vector_, start, 5, 10);
      case unit::general_to_vector: occupy(integer_, start, 1, 3); return occupy(vector_, start + 3, 1, 2);
      case unit::vector_to_general: return occupy(vector_, start, 1, 2);
      case unit::integer_multiply: return occupy(integer_, start, 1, 2);
      case unit::branch: return occupy(branch_, start, 1, 1);
      case unit::integer: return occupy(integer_, start, 1, 1);
      case unit::nothing: return;
    }
  }

  pipes vector_{2}, memory_{2}, integer_{3}, branch_{1};
  std::uint64_t ready_[registers]{}, forwarded_[registers]{}, done_[in_flight]{};
  std::uint64_t dispatch_ = 0, fetch_from_ = 0, committed_ = 0, index_ = 0, end_ = 0, last_end_ = 0;
  int dispatched_ = 0;  ///< in the cycle `dispatch_`
};

}  // namespace ruler
