// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows the progress of a search: one changing line on a terminal, an occasional line in a file or a pipe.
#pragma once

#include <ago/tuner/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace ago::tuner {

/// The state of a search that is shown to the user.
struct standing {
  int trials = 0, budget = 0;
  double usual = 0, best = 0;  ///< seconds
  double left = 0;             ///< seconds until the budget is spent
  std::string region;          ///< being tuned
};

class progress {
 public:
  /// Null: shows nothing.
  explicit progress(std::FILE* out) : out_(out), terminal_(out && ::isatty(::fileno(out)) != 0) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() { finish(); }

  void show(standing const& s) {
    if (!out_) return;
    if (terminal_) redraw(s);
    else if (s.trials == 1 || s.trials == s.budget || s.trials * steps / s.budget != last_ * steps / s.budget)
      std::fprintf(out_, "%s\n", text(s).c_str()), std::fflush(out_);
    last_ = s.trials;
  }
  /// Prints a separate line.
  void say(std::string const& line) {
    if (!out_) return;
    finish();
    std::fprintf(out_, "%s\n", line.c_str());
    std::fflush(out_);
  }
  /// Ends the changing line.
  void finish() {
    if (drawn_) std::fputc('\n', out_), std::fflush(out_);
    drawn_ = false;
  }

 private:
  static constexpr int steps = 20;  ///< approximate number of lines without a terminal

  static std::string text(standing const& s) {
    std::string line = print("%d/%d trials, best %s", s.trials, s.budget, duration(s.best).c_str());
    if (s.best != s.usual) line += " (" + change(s.usual, s.best) + ")";
    return line + ", " + clock_time(s.left) + " left, " + s.region;
  }
  void redraw(standing const& s) {
    winsize size{};
    std::size_t const columns = ::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    constexpr int width = 20;
    int const full = int(double(s.trials) / s.budget * width);
    std::string line =
        "[" + std::string(std::size_t(full), '#') + std::string(std::size_t(width - full), '.') + "] " + text(s);
    std::fprintf(out_, "\r%s\033[K", line.substr(0, columns - 1).c_str());
    std::fflush(out_);
    drawn_ = true;
  }

  std::FILE* out_;
  bool terminal_, drawn_ = false;
  int last_ = 0;
};

}  // namespace ago::tuner
