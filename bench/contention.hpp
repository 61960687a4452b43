// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other cores at work: a thread that streams memory while something else is timed, as a phone's other cores do.
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
/// What runs on the same execution units as `core`, itself included; empty where that is unknown.
std::vector<int> siblings_of(int core);

/// The core to disturb `measured` from: one of `usable` that is not among its siblings, or else any other. Throws
/// std::runtime_error if there is none, or if `measured` itself is not usable.
int disturbing_core(std::vector<int> const& usable, int measured, std::vector<int> const& siblings);

/// Far more than the last-level cache holds: four times its size, but at most a quarter of the memory.
std::size_t streaming_bytes();

/// Reads and writes a buffer from end to end, over and over, on a core of its own and in the ordinary scheduling class,
/// as long as it lives.
class contention {
 public:
  /// Returns when the buffer has been passed once. Throws std::runtime_error if core or memory are not to be had.
  contention(int core, std::size_t bytes);
  ~contention();
  contention(contention const&) = delete;
  contention& operator=(contention const&) = delete;

  std::size_t bytes() const { return floats_ * sizeof(float); }
  /// Bytes read and bytes written so far, and per second.
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
