// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor time of a thread: what it computes takes the same time whether others interrupt it or not.
#pragma once

#include <ago/requirements.hpp>

#include <chrono>
#include <ctime>

namespace ago::tuner {

/// A clock of the standard library's form. It takes a system call of some 0.2 us.
struct thread_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<thread_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
#if defined(CLOCK_THREAD_CPUTIME_ID)
    ::timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
#else
    return time_point(std::chrono::steady_clock::now().time_since_epoch());
#endif
  }
};

}  // namespace ago::tuner
