// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the operators of an ONNX model to ago's layers.
#pragma once

#include "arrange.hpp"

#include "../onnx/error.hpp"
#include "../onnx/model.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ago::importer {

/// How the caller passes an input, or receives an output.
struct port {
  std::string name;
  extents dims;  ///< outermost in memory first
};

/// A model as ago's layers.
struct lowered_model {
  call_list network;
  std::vector<port> inputs, outputs;
  std::vector<std::string> notes;  ///< sentences about the effects of options
};

struct lowering_options {
  bool trace = false;          ///< also makes every intermediate value an output
  bool channels_last = false;  ///< image inputs and outputs are [n, h, w, c] in memory
  /// Of all layers together, including those that the importer makes itself; 2 GiB.
  std::int64_t most_weights = std::int64_t{1} << 29;
};

/// Throws onnx::import_error with everything unsupported.
lowered_model lower(onnx::model const& model, lowering_options const& options = {});

/// The state that operators are lowered with.
class context {
 public:
  context(onnx::model const& model, std::int64_t most_weights)
      : model(model), net(most_weights), most_read_(4 * most_weights), views_(model.values.size()) {}

  onnx::model const& model;
  builder net;

  extents const& dims(int value) const { return model.values[std::size_t(value)].dims; }
  int rank(int value) const { return int(dims(value).size()); }
  /// Null if it is not a constant.
  onnx::constant const* known(int value) const;
  /// A value of the network; a constant is turned into a layer that makes it.
  view tensor_of(int value);
  void define(int value, view v);
  /// The numbers of a constant. Nodes may read them repeatedly, up to a limit: beyond it, throws `unsupported`.
  std::vector<float> reals(onnx::constant const& k);
  std::vector<std::int64_t> integers(onnx::constant const& k, char const* what);
  bool defined(int value) const { return views_[std::size_t(value)].has_value(); }

  /// Zeros for weights; throws `unsupported` if there would be too many.
  std::vector<float> table(extents const& dims) const;
  /// A value with the elements `values`, in row-major order.
  view constant(extents const& dims, std::vector<float> const& values);

 private:
  void count_read(std::size_t numbers);

  std::int64_t most_read_, read_ = 0;
  std::vector<std::optional<view>> views_;
};

/// A node with access to its attributes and operands.
class node_reader {
 public:
  node_reader(context& c, onnx::operation const& op) : c(c), op(op) {}

  context& c;
  onnx::operation const& op;

  bool has(int input) const { return input < int(op.inputs.size()) && op.inputs[std::size_t(input)] >= 0; }
  /// Whether anything reads this output.
  bool wants(int output) const { return output < int(op.outputs.size()) && op.outputs[std::size_t(output)] >= 0; }
  int input(int i) const;
  view x(int i = 0) const { return c.tensor_of(input(i)); }
  extents const& dims(int i = 0) const { return c.dims(input(i)); }
  extents const& out_dims(int i = 0) const;
  onnx::constant const* known(int i) const { return has(i) ? c.known(input(i)) : nullptr; }
  /// Numbers that must be constant; throws otherwise.
  std::vector<float> reals(int i, char const* what) const;
  std::vector<std::int64_t> integers(int i, char const* what) const;
  /// Unread outputs are ignored.
  void define(view v, int output = 0) const;

  bool given(char const* attribute) const { return op.attributes.count(attribute) != 0; }
  std::int64_t integer(char const* attribute, std::int64_t otherwise) const;
  float real(char const* attribute, float otherwise) const;
  std::string text(char const* attribute, char const* otherwise) const;
  std::vector<std::int64_t> list(char const* attribute, std::vector<std::int64_t> otherwise = {}) const;
  /// From an attribute in old operator sets, from an input in newer ones.
  std::vector<std::int64_t> list_or_input(char const* attribute, int input,
                                          std::vector<std::int64_t> otherwise = {}) const;
};

/// Lowers one node: reads it, applies layers, defines its outputs. Throws `unsupported`.
using rule = void (*)(node_reader const&);
using rule_table = std::map<std::string, rule, std::less<>>;

void add_elementwise_rules(rule_table&);
void add_window_rules(rule_table&);
void add_product_rules(rule_table&);
void add_movement_rules(rule_table&);
void add_reduction_rules(rule_table&);
void add_normalisation_rules(rule_table&);
void add_pad_rules(rule_table&);
void add_resize_rules(rule_table&);
void add_attention_rules(rule_table&);
void add_place_rules(rule_table&);
rule_table const& rules();

/// -1 is the last axis; throws if there is no such axis.
int axis_of(std::int64_t axis, int rank);

}  // namespace ago::importer
