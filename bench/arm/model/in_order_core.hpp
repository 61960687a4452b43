// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cycles on a little core that issues two instructions at most, in order: Cortex-A53 and A55.
#pragma once

#include "instruction.hpp"

#include <algorithm>

namespace ruler {

/// Every access hits L1. From Arm's Cortex-A55 Software Optimization Guide (EPM128372) and what users of it found out:
/// ncnn's notes on dual issue, ONNX Runtime's pull request 10754, and SLOTHY's model (Abdulrahman, Becker, Kannwischer
/// and Klein, CHES 2024):
/// - Arithmetic on 128 bits issues first in its cycle, one a cycle.
/// - A load of 128 bits issues alone and blocks the core for two cycles a register.
/// - A load of 64 bits, an insertion from a general register and integer arithmetic issue beside such arithmetic.
/// - Stores of vectors issue first, and not in neighbouring cycles.
/// - Results take 4 cycles (multiply-add, multiply, add), 3 (loads of 64 bits) or 2 (moves between registers).
class in_order_core {
 public:
  static constexpr int mispredicted = 8;  ///< cycles, the depth of the pipeline

  std::uint64_t now() const { return now_; }
  void mispredict() { advance(now_ + mispredicted); }

  void issue(instruction const& i) {
    std::uint64_t start = now_;
    for (int k = 0; k < i.source_count; ++k) start = std::max(start, ready_[i.sources[k]]);
    if (i.accumulator != no_register) start = std::max(start, ready_[i.accumulator]);
    advance(start);
    timing const t = place(i);
    for (int k = 0; k < i.result_count; ++k) ready_[i.results[k]] = now_ + std::uint64_t(t.latency);
    if (i.writes_base) ready_[i.base] = now_ + 1;
    if (t.blocks > 0) {
      advance(now_ + std::uint64_t(t.blocks));
    } else if (++issued_ == 2) {
      advance(now_ + 1);
    }
  }

 private:
  struct timing {
    int latency = 1;
    int blocks = 0;  ///< cycles in which nothing else issues; 0: none
  };

  void advance(std::uint64_t to) {
    if (to <= now_) return;
    now_ = to;
    issued_ = 0;
    load_ = store_ = branch_ = whole_ = false;
  }
  void next_cycle() { advance(now_ + 1); }
  void need_slot(bool occupied = false) {
    if (issued_ == 2 || occupied) next_cycle();
  }
  void need_first_slot() {
    if (issued_ > 0) next_cycle();
  }

  /// Waits for the slot that the instruction needs.
  timing place(instruction const& i) {
    int const moved = i.moved;
    switch (i.unit) {
      case unit::load_whole: need_first_slot(); return {2 + 2 * moved, 2 * moved};
      case unit::load_half:
      case unit::load_general: {
        need_slot(load_);
        load_ = true;
        if (moved == 1) return {3};
        need_first_slot();
        int const blocks = i.unit == unit::load_half ? moved : 2;
        return {i.unit == unit::load_half ? 3 + moved : 4, blocks};
      }
      case unit::store_general:
        need_slot(store_);
        if (moved > 1) need_first_slot();
        store_ = true;
        return {};
      case unit::store_half:
      case unit::store_whole:
      case unit::store_whole_structure:
        need_first_slot();
        if (last_store_ > 0 && now_ <= last_store_ + 1) advance(last_store_ + 2);
        last_store_ = now_ + (moved > 1 ? 2u * unsigned(moved - 1) : 0u);
        store_ = whole_ = true;
        return {1, moved > 1 ? 2 * moved - 1 : 0};
      case unit::multiply_add:
      case unit::multiply:
      case unit::add:
      case unit::move:
      case unit::divide:
        if (i.whole) {
          need_first_slot();
          whole_ = true;
        } else {
          need_slot(whole_);
        }
        if (i.unit == unit::divide) return {12, 10};
        return {i.unit == unit::move ? 2 : 4};
      case unit::general_to_vector:
      case unit::vector_to_general: need_slot(); return {2};
      case unit::integer_multiply: need_slot(); return {3};
      case unit::branch:
        need_slot(branch_);
        branch_ = true;
        return {};
      case unit::integer:
      case unit::nothing: break;
    }
    need_slot();
    return {};
  }

  std::uint64_t now_ = 0, ready_[registers]{}, last_store_ = 0;
  int issued_ = 0;  ///< in this cycle
  bool load_ = false, store_ = false, branch_ = false, whole_ = false;
};

}  // namespace ruler
