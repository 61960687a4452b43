// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a program tells the plugin what to measure: by system calls that do not exist. Linux and QEMU refuse them, so
// without the plugin they do nothing.
#pragma once

namespace ruler {

inline constexpr long mark_call = 9999;

/// In x0 of the call. Numbers from `first_step` begin a step.
enum class mark : long { end, warm_up, first_step };

inline void place_mark(long what) {
#if defined(__aarch64__)
  register long x8 asm("x8") = mark_call;
  register long x0 asm("x0") = what;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8) : "memory");
#else
  static_cast<void>(what);
#endif
}

/// From here on, caches and branch predictor are simulated, but nothing is counted.
inline void warm_up() { place_mark(long(mark::warm_up)); }
/// From here on, everything counts towards this step, 0 or more.
inline void begin_step(int step) { place_mark(long(mark::first_step) + step); }
/// The end of what is measured: the plugin writes its report.
inline void end_of_steps() { place_mark(long(mark::end)); }

}  // namespace ruler
