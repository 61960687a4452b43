// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread pool that computes the work items of a model's steps.
#pragma once

#include <ago/requirements.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace ago::runtime {

/// Yields to the other hardware thread of a core, or saves power, while spinning.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Waits until `x` is not `old`: spins for `spin`, then sleeps.
inline void await_change(std::atomic<int> const& x, int old, std::chrono::nanoseconds spin) noexcept {
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + spin; clock::now() < end;)
    for (int i = 0; i < 16; ++i) {
      if (x.load(std::memory_order_acquire) != old) return;
      pause();
    }
  x.wait(old, std::memory_order_acquire);
}

/// A thread pool: the calling thread and `threads` - 1 of its own, started once. A team serves one run at a time, so
/// each thread that runs models needs its own. Runs neither allocate nor throw. Waiting threads, including the caller,
/// spin for `spin`, about as long as most steps take, before they sleep. A thread that finishes a work item takes the
/// next one, so none waits for a thread that has not started, and other work on the machine costs little. If the system
/// cannot start a thread, the constructor throws std::system_error.
class team {
 public:
  explicit team(int threads, std::chrono::nanoseconds spin = std::chrono::microseconds(20))
      : team(threads > 1 ? threads : 1, spin, nullptr) {  // if a thread fails to start, ~team stops the others
    for (int i = 1; i < threads_; ++i) workers_[std::size_t(i)] = std::thread([this] { work(); });
  }
  ~team() {
    ends_.store(true, std::memory_order_relaxed);
    announce(0);
    for (int i = 1; i < threads_; ++i)
      if (workers_[std::size_t(i)].joinable()) workers_[std::size_t(i)].join();
  }
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  int threads() const { return threads_; }

  /// Calls f(0), ..., f(pieces - 1) concurrently on the available threads, and returns when all calls have returned.
  template <class F>
  void run(int pieces, F const& f) noexcept {
    call_ = [](void const* what, int piece) noexcept { (*static_cast<F const*>(what))(piece); };
    what_ = &f;
    left_.store(pieces, std::memory_order_relaxed);
    announce(pieces);
    while (take()) {}
    for (int left; (left = left_.load(std::memory_order_acquire)) > 0;) await_change(left_, left, spin_);
  }

 private:
  /// Constructs the team without its threads.
  team(int threads, std::chrono::nanoseconds spin, std::nullptr_t)
      : threads_(threads), spin_(spin), workers_(new std::thread[std::size_t(threads)]) {}

  /// Publishes `pieces` work items, which call_ and what_ define.
  void announce(int pieces) noexcept {
    open_.store(std::uint64_t(unsigned(pieces)) << 32, std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  /// Computes the next work item, if there is one.
  bool take() noexcept {
    std::uint64_t open = open_.load(std::memory_order_acquire);
    while (unsigned(open) < unsigned(open >> 32))
      if (open_.compare_exchange_weak(open, open + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        call_(what_, int(unsigned(open)));
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
        return true;
      }
    return false;
  }
  void work() noexcept {
    for (int seen = 0;;) {
      await_change(round_, seen, spin_);
      seen = round_.load(std::memory_order_acquire);
      if (ends_.load(std::memory_order_relaxed)) return;
      while (take()) {}
    }
  }

  int const threads_;
  std::chrono::nanoseconds const spin_;
  std::unique_ptr<std::thread[]> workers_;
  void (*call_)(void const*, int) noexcept = nullptr;
  void const* what_ = nullptr;
  std::atomic<bool> ends_{false};
  alignas(64) std::atomic<int> round_{0};
  alignas(64) std::atomic<std::uint64_t> open_{0};  ///< work items of this round (upper half), and the next one to take
  alignas(64) std::atomic<int> left_{0};            ///< work items that are not finished
};

}  // namespace ago::runtime

namespace ago {
using runtime::team;
}  // namespace ago
