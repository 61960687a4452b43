// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An ONNX model as the rest of the importer sees it: static shapes, folded constants, operators in topological order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ago::onnx {

/// The element types of values. On loading, all float encodings (half, bfloat16, double) are converted to float32, all
/// integers and booleans to int64.
enum class element { real, integer };

/// A known value.
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

using attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, constant>;

/// A node. Defaults of absent attributes are not filled in.
struct operation {
  std::string name;  ///< of the node in the file, or "#12" by position
  std::string type;  ///< "Conv"
  std::map<std::string, attribute> attributes;
  std::vector<int> inputs, outputs;  ///< indices of values; -1: an omitted optional one
  std::string unfolded = {};         ///< why it remains although its operands are constant
};

/// The importer's own operator that makes a constant a value: what reads it shares its numbers, while every operator
/// that reads a constant becomes a layer with its own copy.
inline constexpr char shared_constant[] = "ago.SharedConstant";

struct model {
  std::string name;
  std::int64_t opset = 0;  ///< of the default domain
  std::vector<value> values;
  std::vector<operation> operations;    ///< topological order; only those that outputs need and that were not folded
  std::vector<int> inputs, outputs;     ///< without initialized inputs
  std::vector<std::string> notes = {};  ///< sentences about the effects of options
};

}  // namespace ago::onnx
