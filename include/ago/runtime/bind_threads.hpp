// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A processor of its own for each thread of a team. Linux only.
#pragma once

#include <ago/runtime/team.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace ago::runtime {

/// Binds the calling thread to a logical processor. Returns whether the system complied.
inline bool bind_this_thread([[maybe_unused]] int processor) noexcept {
#if defined(__linux__)
  cpu_set_t one;
  CPU_ZERO(&one);
  if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(std::size_t(processor), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
#else
  return false;
#endif
}

/// Binds each thread of the team, the calling one included, to one of these logical processors (numbered as by Linux),
/// of which there must be as many as threads. Some systems keep several threads on one processor to save power, and a
/// phone's system may put them on its little cores; threads that are bound stay where they belong. Returns whether the
/// system complied for all; on systems other than Linux, false.
inline bool bind_threads(team& all, std::span<int const> processors) noexcept {
  if (int(processors.size()) != all.threads()) return false;
  std::atomic<int> arrived = 0, bound = 0;
  all.run(all.threads(), [&](int i) {
    bound += bind_this_thread(processors[std::size_t(i)]);
    // Whoever went on would take the place of a thread that has not come yet.
    for (++arrived; arrived < all.threads();) std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  return bound == all.threads();
}

}  // namespace ago::runtime

namespace ago {
using runtime::bind_threads;
}  // namespace ago
