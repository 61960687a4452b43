// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The synthetic tuner as a program, and its output files.
#pragma once

#include "process.hpp"

namespace testing {

/// The command that runs it, possibly with an emulator.
inline std::vector<std::string> tuner(std::vector<std::string> const& flags) {
  std::vector<std::string> words;
  std::istringstream emulator(AGO_EMULATOR);
  for (std::string word; std::getline(emulator, word, ';');) words.push_back(word);
  words.push_back(SYNTHETIC_TUNER);
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

struct ending {
  int code;
  std::string text;
  bool says(std::string const& words) const { return text.find(words) != std::string::npos; }
};

inline ending run(std::vector<std::string> const& flags, process::environment const& more = {},
                  output to = output::pipe, rlim_t largest_file = RLIM_INFINITY) {
  process p(tuner(flags), more, to, largest_file);
  int const code = p.wait();
  return {code, p.text()};
}

/// The lines of a log without the times of the measurements.
inline std::vector<std::string> measurements(std::string const& log) {
  std::vector<std::string> lines;
  std::istringstream in(contents(log));
  for (std::string line; std::getline(in, line);) lines.push_back(line.substr(0, line.find(",\"took_s\"")));
  return lines;
}

}  // namespace testing
