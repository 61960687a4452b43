// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which conditional branches a core foresees: gshare (McFarling, "Combining Branch Predictors", DEC WRL TN-36, 1993).
#pragma once

#include <array>
#include <cstdint>

namespace ruler {

/// 16384 counters of two bits and 12 branches of history: it foresees the ends of loops of up to about ten turns. The
/// predictors of the real cores are not documented.
class branch_predictor {
 public:
  /// Whether it is mistaken; it then learns.
  bool mistakes(std::uint64_t address, bool taken) {
    std::uint8_t& counter = counters_[((address >> 2) ^ history_ * 5) % counters_.size()];
    bool const expected = counter >= 2;
    if (taken) {
      if (counter < 3) ++counter;
    } else if (counter > 0) {
      --counter;
    }
    history_ = (history_ << 1 | std::uint32_t(taken)) & 0xFFF;
    return expected != taken;
  }

 private:
  std::array<std::uint8_t, 1 << 14> counters_{};
  std::uint32_t history_ = 0;
};

}  // namespace ruler
