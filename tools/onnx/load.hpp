// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX file to the model that the importer works on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "error.hpp"
#include "model.hpp"

namespace ago::onnx {

/// The oldest and the newest operator set whose rules are known here.
inline constexpr std::int64_t oldest_opset = 6, newest_opset = 25;

struct load_options {
  /// Sizes of the symbolic dimensions of the inputs, by their names ("N"), or "input:axis" for those without a name.
  std::map<std::string, std::int64_t> dims = {};
  /// For inputs' first dimensions that are no positive numbers, and for others of the same name, unless `dims` tells.
  std::optional<std::int64_t> batch = {};
  /// Inputs that are constants in this import, such as the sizes that a Reshape takes from the caller.
  std::map<std::string, constant> fixed = {};
  /// Operators that may be left after folding; others are reported together with everything else that is wrong. If it
  /// is empty, all may.
  std::set<std::string, std::less<>> operators = {};
  /// Operators whose result would have more elements than this are not folded (integers count twice: memory),
  std::int64_t largest_constant = std::int64_t{1} << 29;
  /// nor when all folded constants together would have more. Four times as many are read at most.
  std::int64_t all_constants = std::int64_t{1} << 29;
};

/// Reads, checks, infers shapes, folds and prunes. Throws import_error with everything that was found.
model load(std::filesystem::path const& file, load_options const& options = {});

/// The same from memory; external data is looked for in `folder`, and refused if that is empty.
model load_bytes(std::string_view bytes, std::filesystem::path const& folder, load_options const& options = {});

}  // namespace ago::onnx
