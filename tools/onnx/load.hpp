// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX file to the model that the importer works with.
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

/// The oldest and the newest supported operator set.
inline constexpr std::int64_t oldest_opset = 6, newest_opset = 26;

struct load_options {
  /// Sizes of the symbolic dimensions of the inputs, by name ("N"), or "input:axis" if they have no name.
  std::map<std::string, std::int64_t> dims = {};
  /// For first dimensions of inputs that are not positive numbers, and for others of the same name, unless `dims` sets
  /// them.
  std::optional<std::int64_t> batch = {};
  /// Inputs that are constants in this import, such as the sizes of a Reshape that the caller would pass.
  std::map<std::string, constant> fixed = {};
  /// Operators that may remain after folding; others are reported together with all other faults. If it is empty, all
  /// may remain.
  std::set<std::string, std::less<>> operators = {};
  /// Operators whose result would have more elements than this are not folded (integers count twice, for their memory),
  std::int64_t largest_constant = std::int64_t{1} << 29;
  /// nor if all folded constants together would have more. At most four times as many are read.
  std::int64_t all_constants = std::int64_t{1} << 29;
};

/// Reads, checks, infers shapes, folds and prunes. Throws import_error with all findings.
model load(std::filesystem::path const& file, load_options const& options = {});

/// The same from memory; external data is read from `folder`, and refused if that is empty.
model load_bytes(std::string_view bytes, std::filesystem::path const& folder, load_options const& options = {});

}  // namespace ago::onnx
