// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of ago-inspect.
#pragma once

#include "networks.hpp"

#include "../import/model_words.hpp"

#include <ago/plan/options.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// An invalid command line; what() says why.
struct usage_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

enum class format { text, json, dot, html };

/// How times are measured.
struct measuring {
  std::string compiler;               ///< empty: see compiler_words()
  std::vector<std::string> includes;  ///< folders of headers
  int repetitions = 60;
  std::optional<int> core;  ///< to claim
};

struct arguments {
  known_network const* network{};  ///< null: inspect a model
  int size{};                      ///< of the network
  importer::model_words model;
  std::vector<options> ways;  ///< options to compile it with: one set, or two to compare
  tools::format format{};
  std::string output;  ///< a file name; empty: standard output
  std::optional<measuring> measure;
};

/// The parsed command line; nothing if it only asked for help or a list, which has then been printed. Throws
/// usage_error.
std::optional<arguments> parse(int count, char const* const* words);

}  // namespace ago::tools
