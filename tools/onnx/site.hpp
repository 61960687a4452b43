// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operation as the rules for shapes and for folding see it.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "sizes.hpp"

namespace ago::onnx {

/// Gives access to an operation's inputs and attributes, and takes its outputs. Throws a fault for everything that is
/// requested but missing or of another type.
class site {
 public:
  site(model& graph, operation const& op) : graph_(graph), op_(op) {}

  std::int64_t opset() const { return graph_.opset; }
  std::string const& type() const { return op_.type; }

  std::size_t inputs() const { return op_.inputs.size(); }
  std::size_t outputs() const { return op_.outputs.size(); }
  bool has_input(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  bool has_output(std::size_t i) const { return i < op_.outputs.size() && op_.outputs[i] >= 0; }
  value const& input(std::size_t i) const;
  extents const& dims(std::size_t i) const { return input(i).dims; }
  std::size_t rank(std::size_t i) const { return dims(i).size(); }
  extents const& output_dims(std::size_t i) const;  ///< empty if it is omitted
  element output_type(std::size_t i) const;
  element element_type(std::size_t i) const { return input(i).type; }

  /// The input's value, which must be constant; `what` is its name in the specification.
  constant const& known(std::size_t i, char const* what) const;
  extents const& integers(std::size_t i, char const* what) const;
  std::vector<float> const& reals(std::size_t i, char const* what) const;
  std::int64_t integer(std::size_t i, char const* what) const;

  bool has(char const* name) const { return op_.attributes.count(name) != 0; }
  std::int64_t integer(char const* name, std::int64_t otherwise) const;
  bool flag(char const* name, bool otherwise) const { return integer(name, otherwise) != 0; }
  float real(char const* name, float otherwise) const;
  std::string text(char const* name, char const* otherwise) const;
  extents integers(char const* name, extents const& otherwise) const;
  attribute const* find(char const* name) const;

  /// A list that is an attribute before opset `since`, and input `i` from then on.
  extents list(char const* name, std::int64_t since, std::size_t i, extents const& otherwise) const;

  /// Like integers(), with every number in [lowest, largest_size] and, unless `count` is 0, `count` of them.
  extents small_integers(char const* name, extents const& otherwise, std::size_t count, std::int64_t lowest) const;

  /// The shape and type of an output. Omitted outputs are ignored.
  void set(std::size_t i, extents dims, element type);
  void set(std::size_t i, extents dims) { set(i, std::move(dims), element_type(0)); }

  /// An output's value.
  void set(std::size_t i, constant known);

 private:
  model& graph_;
  operation const& op_;
};

}  // namespace ago::onnx
