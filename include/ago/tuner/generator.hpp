// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers for the searches: the same on every machine, unlike the standard library's distributions.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <cstdint>

namespace ago::tuner {

/// SplitMix64 (Steele, Lea, Flood, 2014).
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// 0 ... n - 1; n > 0. The bias is below n / 2^64.
  std::size_t below(std::size_t n) { return std::size_t((*this)() % n); }
  /// 0 <= x < 1.
  double unit() { return double((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace ago::tuner
