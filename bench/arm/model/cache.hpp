// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A set-associative cache that replaces the least recently used line of 64 bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ruler {

inline constexpr std::size_t line_bytes = 64;

class cache {
 public:
  cache(std::size_t bytes, unsigned ways)
      : ways_{ways}, sets_{bytes / line_bytes / ways}, lines_(sets_ * ways, ~std::uint64_t(0)) {}

  /// Whether the line is there; if it is not, it is brought in.
  bool touch(std::uint64_t line) {
    std::uint64_t* const set = &lines_[line % sets_ * ways_];
    if (set[0] == line) return true;
    unsigned way = 1;
    while (way < ways_ && set[way] != line) ++way;
    bool const hit = way < ways_;
    std::copy_backward(set, set + (hit ? way : ways_ - 1), set + (hit ? way : ways_ - 1) + 1);
    set[0] = line;
    return hit;
  }

 private:
  unsigned ways_;
  std::size_t sets_;
  std::vector<std::uint64_t> lines_;  ///< of each set, the most recently used first
};

}  // namespace ruler
