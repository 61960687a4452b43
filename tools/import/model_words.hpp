// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model as given on a command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ago::importer {

struct model_words {
  std::filesystem::path file = {};
  std::vector<std::string> dims = {};   ///< NAME=NUMBER: sizes of symbolic dimensions
  std::vector<std::string> fixed = {};  ///< NAME=FILE: inputs that are constant
  std::int64_t batch = 0;               ///< size of open first dimensions; 0: not given
  bool channels_last = false;           ///< see lowering_options
};

}  // namespace ago::importer
