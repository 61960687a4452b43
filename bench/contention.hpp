// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Load on another core: a thread that streams memory while something else is timed, as the other cores of a phone do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace bench {

/// The cores that this process may use, in ascending order.
std::vector<int> usable_cores();
/// The logical cores that share execution units with `core`, itself included; empty if unknown.
std::vector<int> siblings_of(int core);

/// The core that loads memory while `measured` is timed: one of `usable` that is not among its siblings, or else any
/// other. Throws std::runtime_error if there is none, or if `measured` itself is not usable.
int disturbing_core(std::vector<int> const& usable, int measured, std::vector<int> const& siblings);

/// Four times the size of the last-level cache, but at most a quarter of the memory.
std::size_t streaming_bytes();

/// For as long as it lives, reads and writes a buffer from end to end, repeatedly, on a core of its own and in the
/// ordinary scheduling class.
class contention {
 public:
  /// Returns after the first pass over the buffer. Throws std::runtime_error if core or memory are not available.
  contention(int core, std::size_t bytes);
  ~contention();
  contention(contention const&) = delete;
  contention& operator=(contention const&) = delete;

  std::size_t bytes() const { return floats_ * sizeof(float); }
  /// Bytes read plus bytes written: so far, and per second.
  std::size_t moved() const { return moved_; }
  double rate() const;

 private:
  void stream();

  std::size_t floats_;
  std::unique_ptr<float[]> buffer_;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> moved_{0};
  std::chrono::steady_clock::time_point begin_{};
  std::thread thread_;
};

}  // namespace bench
