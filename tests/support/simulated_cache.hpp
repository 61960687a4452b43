// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A set-associative cache of lines of 64 bytes that evicts the line used least recently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

class simulated_cache {
 public:
  explicit simulated_cache(long bytes, int ways = 16)
      : ways_(std::size_t(ways)), sets_(std::size_t(bytes / line / ways)), tags_(ways_ * sets_, ~std::uintptr_t(0)) {}

  static constexpr int line = 64;
  long misses = 0;

  /// Uses a line of memory; false if it was not in the cache.
  bool use(std::uintptr_t number) {
    auto const first = tags_.begin() + std::ptrdiff_t(number % sets_ * ways_), last = first + std::ptrdiff_t(ways_);
    auto const found = std::find(first, last, number);
    bool const hit = found != last;
    misses += !hit;
    std::rotate(first, hit ? found : last - 1, hit ? found + 1 : last);
    *first = number;
    return hit;
  }

 private:
  std::size_t ways_, sets_;
  std::vector<std::uintptr_t> tags_;  ///< of each set, the line used last first
};

/// Two levels; what is not in the first is looked for in the second.
struct simulated_caches {
  simulated_cache l1, l2;
  simulated_caches(long l1_bytes, long l2_bytes) : l1(l1_bytes), l2(l2_bytes) {}
  void use(void const* p, std::size_t bytes) {
    auto const begin = reinterpret_cast<std::uintptr_t>(p);
    for (auto n = begin / simulated_cache::line; n <= (begin + bytes - 1) / simulated_cache::line; ++n)
      if (!l1.use(n)) l2.use(n);
  }
};

}  // namespace test
