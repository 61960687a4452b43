// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Linux tells about the processor.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace bench {

/// The first processor's line `name` of /proc/cpuinfo; empty if there is none.
inline std::string cpuinfo(std::string_view name) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    std::size_t const colon = line.find(": ");
    if (colon != line.npos && line.starts_with(name) && line.find_last_not_of("\t ", colon - 1) + 1 == name.size())
      return line.substr(colon + 2);
  }
  return "";
}

}  // namespace bench
