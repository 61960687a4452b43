// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ONNX model as the rest of the importer sees it: static shapes, constants folded, operators in topological order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ago::onnx {

/// What values are made of. All float encodings (half, bfloat16, double) are widened or narrowed to float32 on loading,
/// all integers and booleans to int64.
enum class element { real, integer };

/// A value that is known.
struct constant {
  element type = element::real;
  std::vector<std::int64_t> dims = {};
  std::vector<float> reals = {};            ///< type real, row-major
  std::vector<std::int64_t> integers = {};  ///< type integer
};

/// A tensor of the graph.
struct value {
  std::string name;
  element type = element::real;
  std::vector<std::int64_t> dims;  ///< static, after shape inference
  std::optional<constant> known;   ///< an initializer, or folded
};

using attribute =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>, constant>;

/// One node. Defaults of absent attributes are not filled in.
struct operation {
  std::string name;  ///< of the node in the file, or "#12" by position
  std::string type;  ///< "Conv"
  std::map<std::string, attribute> attributes;
  std::vector<int> inputs, outputs;  ///< indices of values; -1: an optional one that is left out
  std::string unfolded = {};         ///< why it is left although its operands are constant
};

struct model {
  std::string name;
  std::int64_t opset = 0;  ///< of the default domain
  std::vector<value> values;
  std::vector<operation> operations;  ///< topological order; only those that outputs need and that are not folded
  std::vector<int> inputs, outputs;   ///< inputs without initializers
  std::vector<std::string> notes = {};  ///< sentences about what options did
};

}  // namespace ago::onnx
