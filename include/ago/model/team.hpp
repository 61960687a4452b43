// Threads that compute the pieces of a model's steps at the same time.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace ago {

namespace detail {

/// A moment for the other thread of a core, or for its battery.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Waits until `x` is something else than `old`: awake for `spin`, then asleep.
inline void await_change(std::atomic<int> const& x, int old, std::chrono::nanoseconds spin) noexcept {
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + spin; clock::now() < end;)
    for (int i = 0; i < 16; ++i) {
      if (x.load(std::memory_order_acquire) != old) return;
      pause();
    }
  x.wait(old, std::memory_order_acquire);
}

}  // namespace detail

/// The calling thread and `threads` - 1 of its own, started once. A team serves one run at a time: one for each thread
/// that runs models. Runs allocate and throw nothing. Threads that wait for work, or the caller for theirs, stay awake
/// for `spin`, as long as most steps take, before they sleep.
class team {
 public:
  explicit team(int threads, std::chrono::nanoseconds spin = std::chrono::microseconds(20))
      : threads_(threads > 1 ? threads : 1), spin_(spin), workers_(new std::thread[std::size_t(threads_)]) {
    for (int i = 1; i < threads_; ++i) workers_[std::size_t(i)] = std::thread([this, i] { work(i); });
  }
  ~team() {
    call_ = nullptr;
    announce();
    for (int i = 1; i < threads_; ++i) workers_[std::size_t(i)].join();
  }
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  int threads() const { return threads_; }

  /// Calls f(0), ..., f(pieces - 1), at the same time as far as there are threads, and returns when all have returned.
  template <class F>
  void run(int pieces, F const& f) noexcept {
    call_ = [](void const* what, int piece) noexcept { (*static_cast<F const*>(what))(piece); };
    what_ = &f;
    pieces_ = pieces;
    busy_.store(threads_ - 1, std::memory_order_relaxed);
    announce();
    take(0);
    for (int left; (left = busy_.load(std::memory_order_acquire)) > 0;) detail::await_change(busy_, left, spin_);
  }

 private:
  /// Publishes what is to be done next.
  void announce() noexcept {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  /// Every threads_-th piece from `first` on: the same thread for the same piece of every step.
  void take(int first) noexcept {
    for (int i = first; i < pieces_; i += threads_) call_(what_, i);
  }
  void work(int number) noexcept {
    for (int seen = 0;;) {
      detail::await_change(round_, seen, spin_);
      seen = round_.load(std::memory_order_acquire);
      if (!call_) return;
      take(number);
      if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    }
  }

  int const threads_;
  std::chrono::nanoseconds const spin_;
  std::unique_ptr<std::thread[]> workers_;
  void (*call_)(void const*, int) noexcept = nullptr;  ///< null: the end
  void const* what_ = nullptr;
  int pieces_ = 0;
  alignas(64) std::atomic<int> round_{0};
  alignas(64) std::atomic<int> busy_{0};
};

}  // namespace ago
