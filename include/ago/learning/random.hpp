// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers that depend on a seed and a counter only: the same bits on every machine, in any order.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::learning {

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
class philox {
 public:
  constexpr explicit philox(std::uint64_t seed) : key_{std::uint32_t(seed), std::uint32_t(seed >> 32)} {}

  struct block {
    std::uint32_t of[4];
  };
  /// The four numbers at a counter of 128 bits.
  constexpr block operator()(std::uint64_t low, std::uint64_t high = 0) const {
    std::uint32_t x[4] = {std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high), std::uint32_t(high >> 32)};
    std::uint32_t k[2] = {key_[0], key_[1]};
    for (int round = 0; round < 10; ++round) {
      std::uint64_t const a = 0xD2511F53ull * x[0], b = 0xCD9E8D57ull * x[2];
      std::uint32_t const next[4] = {std::uint32_t(b >> 32) ^ x[1] ^ k[0], std::uint32_t(b),
                                     std::uint32_t(a >> 32) ^ x[3] ^ k[1], std::uint32_t(a)};
      for (int i = 0; i < 4; ++i) x[i] = next[i];
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    return {{x[0], x[1], x[2], x[3]}};
  }

  /// A number from [0, 1), a multiple of 2^-24.
  static constexpr float uniform(std::uint32_t bits) { return float(bits >> 8) * 0x1p-24f; }

 private:
  std::uint32_t key_[2];
};

}  // namespace ago::learning

namespace ago {
using learning::philox;
}  // namespace ago
