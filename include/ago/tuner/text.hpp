// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formatted numbers, durations, and messages for users.
#pragma once

#include <ago/requirements.hpp>

#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace ago::tuner {

/// What std::printf would print.
[[gnu::format(printf, 1, 2)]] inline std::string print(char const* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string result(std::size_t(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return result;
}

/// "0.412 ms", "12.3 s"
inline std::string duration(double seconds) {
  if (seconds < 1e-3) return print("%.4g us", seconds * 1e6);
  return seconds < 1 ? print("%.4g ms", seconds * 1e3) : print("%.4g s", seconds);
}

/// "2:41", "1:02:41"
inline std::string clock_time(double seconds) {
  long const s = long(seconds + .5);
  if (s < 3600) return print("%ld:%02ld", s / 60, s % 60);
  return print("%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

/// The change from `before` to `now`: "-12.3 %".
inline std::string change(double before, double now) { return print("%+.1f %%", (now / before - 1) * 100); }

/// An error that the user can fix; its message needs no further context.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ago::tuner
