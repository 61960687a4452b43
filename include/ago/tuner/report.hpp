// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table at the end: the time of every step by default, and tuned.
#pragma once

#include <ago/tuner/subject.hpp>
#include <ago/tuner/text.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ago::tuner {

/// Columns: step, default, tuned, gain, structure. The last line is the sum.
inline std::string report_of(std::vector<step_report> const& steps) {
  std::size_t widest = 4;
  step_report sum{"sum of the steps", "", 0, 0};
  for (step_report const& s : steps)
    sum.usual += s.usual, sum.tuned += s.tuned, widest = std::max(widest, s.name.size());
  int const width = int(std::min<std::size_t>(std::max(widest, sum.name.size()), 60));
  std::string text = print("%-*s  %10s  %10s  %8s  %s\n", width, "step", "default", "tuned", "gain", "structure");
  auto const add = [&](step_report const& s) {
    text += print("%-*s  %10s  %10s  %8s  %s\n", width, s.name.c_str(), duration(s.usual).c_str(),
                  duration(s.tuned).c_str(), s.usual > 0 ? change(s.usual, s.tuned).c_str() : "", s.structure.c_str());
    while (text.ends_with(" \n")) text.erase(text.size() - 2, 1);
  };
  for (step_report const& s : steps) add(s);
  add(sum);
  return text;
}

}  // namespace ago::tuner
