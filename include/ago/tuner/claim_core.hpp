// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a program that measures runs: on one core, undisturbed as far as the system allows.
#pragma once

#include <ago/requirements.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#if defined(__linux__)
#include <sched.h>
#endif

namespace ago::tuner {

/// Binds this thread, and those it starts, to a core and requests the real-time class. Returns a report of what it got.
inline std::string claim_core([[maybe_unused]] int core) {
#if defined(__linux__)
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(unsigned(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0)
    return "not pinned to core " + std::to_string(core) + ": " + std::strerror(errno);
  sched_param const priority{.sched_priority = 10};
  bool const real_time = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  return "pinned to core " + std::to_string(core) +
         (real_time ? ", real-time class" : std::string(", no real-time class: ") + std::strerror(errno));
#else
  return "not pinned: this works on Linux only";
#endif
}

}  // namespace ago::tuner
