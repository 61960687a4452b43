// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings: faults of a model, collected as far as possible and thrown together.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::onnx {

/// The beginning of the reason given for a node of an unsupported operator.
inline constexpr char unsupported_operator[] = "the operator is not supported";

/// A fault or an unsupported feature. Fields that do not apply are empty: a finding about the file has no node.
struct finding {
  std::string node = {};       ///< its name, or "#12" by position
  std::string op = {};         ///< "Conv"
  std::string attribute = {};  ///< or the name of an input: "pads"
  std::string reason = {};     ///< a clause without a full stop
};

/// `node "conv1" (Conv), pads: 3 numbers, expected 4`
std::string sentence(finding const& f);

/// Thrown by everything that reads models and tensors; what() is one line per finding. Unsupported operators come
/// first, one line for all nodes of a kind.
class import_error : public std::runtime_error {
 public:
  explicit import_error(std::vector<finding> all);
  explicit import_error(std::string reason);

  std::vector<finding> const& findings() const { return *findings_; }

 private:
  std::shared_ptr<std::vector<finding> const> findings_;  // shared: copies of an exception must not throw
};

/// The text as a terminal may show it (tools::printable), truncated: names come from the file.
std::string printable(std::string const& text);

/// The text as a word of a shell command line, quoted if necessary.
std::string shell_word(std::string const& text);

}  // namespace ago::onnx
