// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caches of a core: which accesses miss, and which of these misses a prefetcher would have foreseen.
#pragma once

#include "cache.hpp"

#include <array>
#include <optional>

namespace ruler {

/// Which of the misses continue a run: those on the same line as one of the last misses of 16 runs, or up to two lines
/// from it. The prefetchers of little cores follow fewer and simpler runs, those of big ones more.
class streams {
 public:
  bool continues(std::uint64_t line) {
    for (std::uint64_t& last : last_)
      if (line - last + 2 <= 4) return last = line, true;
    last_[next_++ % last_.size()] = line;
    return false;
  }

 private:
  std::array<std::uint64_t, 16> last_{};
  unsigned next_ = 0;
};

/// Misses of data: `foreseen` ones continue a run, or an instruction asked for the line before. `far`: those of L2 that
/// are not in L3 either, if there is one.
struct misses {
  std::uint64_t l1 = 0, l1_foreseen = 0, l2 = 0, l2_foreseen = 0, far = 0, code_l1 = 0, code_l2 = 0;
};

struct cache_size {
  std::size_t bytes;
  unsigned ways;
};

class hierarchy {
 public:
  hierarchy(cache_size l1_code, cache_size l1, cache_size l2, std::optional<cache_size> l3 = {})
      : l1_code_{l1_code.bytes, l1_code.ways}, l1_{l1.bytes, l1.ways}, l2_{l2.bytes, l2.ways} {
    if (l3) l3_.emplace(l3->bytes, l3->ways);
  }

  void access(std::uint64_t line) {
    if (l1_.touch(line)) return;
    ++count_.l1;
    count_.l1_foreseen += l1_streams_.continues(line);
    beyond_l1(line, false);
  }
  /// By an instruction. What is brought in counts as a foreseen miss.
  void prefetch(std::uint64_t line, bool into_l2) {
    if (!into_l2) {
      if (l1_.touch(line)) return;
      ++count_.l1;
      ++count_.l1_foreseen;
    }
    beyond_l1(line, true);
  }
  void fetch_code(std::uint64_t line) {
    if (l1_code_.touch(line)) return;
    ++count_.code_l1;
    if (l2_.touch(line)) return;
    ++count_.code_l2;
    if (l3_) l3_->touch(line);
  }

  misses const& count() const { return count_; }

 private:
  void beyond_l1(std::uint64_t line, bool requested) {
    if (l2_.touch(line)) return;
    ++count_.l2;
    count_.l2_foreseen += requested || l2_streams_.continues(line);
    count_.far += !l3_ || !l3_->touch(line);
  }

  cache l1_code_, l1_, l2_;
  std::optional<cache> l3_;
  streams l1_streams_, l2_streams_;
  misses count_;
};

}  // namespace ruler
