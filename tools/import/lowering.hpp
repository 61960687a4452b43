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

/// How a user hands over an input, or gets an output.
struct port {
  std::string name;
  extents dims;  ///< outermost in memory first
};

/// A model in ago's layers.
struct lowered_model {
  call_list network;
  std::vector<port> inputs, outputs;
  std::vector<std::string> notes;  ///< sentences about what options did
};

struct lowering_options {
  bool trace = false;          ///< every intermediate value becomes an output too
  bool channels_last = false;  ///< images among inputs and outputs lie in memory as [n, h, w, c]
  /// Of all layers together, those that the importer makes itself as well; 2 GiB.
  std::int64_t most_weights = std::int64_t{1} << 29;
};

/// Throws onnx::import_error with everything that is not supported.
lowered_model lower(onnx::model const& model, lowering_options const& options = {});

/// What the operators are lowered with.
class context {
 public:
  context(onnx::model const& model, std::int64_t most_weights)
      : model(model), net(most_weights), most_read_(4 * most_weights), views_(model.values.size()) {}

  onnx::model const& model;
  builder net;

  extents const& dims(int value) const { return model.values[std::size_t(value)].dims; }
  int rank(int value) const { return int(dims(value).size()); }
  /// Null where it is not known before the network runs.
  onnx::constant const* known(int value) const;
  /// A value of the network; a known one becomes a layer that makes it.
  view tensor_of(int value);
  void define(int value, view v);
  /// The numbers of a constant, which nodes may read again and again, but not without end: throws `unsupported`.
  std::vector<float> reals(onnx::constant const& k);
  std::vector<std::int64_t> integers(onnx::constant const& k, char const* what);
  bool defined(int value) const { return views_[std::size_t(value)].has_value(); }

  /// Zeros to make weights of; throws `unsupported` where they are too many.
  std::vector<float> table(extents const& dims) const;
  /// A value that holds `values`, in row-major order.
  view constant(extents const& dims, std::vector<float> const& values);

 private:
  void count_read(std::size_t numbers);

  std::int64_t most_read_, read_ = 0;
  std::vector<std::optional<view>> views_;
};

/// One node with its attributes and operands at hand.
class node_reader {
 public:
  node_reader(context& c, onnx::operation const& op) : c(c), op(op) {}

  context& c;
  onnx::operation const& op;

  bool has(int input) const { return input < int(op.inputs.size()) && op.inputs[std::size_t(input)] >= 0; }
  /// Does anybody read this output?
  bool wants(int output) const { return output < int(op.outputs.size()) && op.outputs[std::size_t(output)] >= 0; }
  int input(int i) const;
  view x(int i = 0) const { return c.tensor_of(input(i)); }
  extents const& dims(int i = 0) const { return c.dims(input(i)); }
  extents const& out_dims(int i = 0) const;
  onnx::constant const* known(int i) const { return has(i) ? c.known(input(i)) : nullptr; }
  /// Numbers that must be known; throws where they are not.
  std::vector<float> reals(int i, char const* what) const;
  std::vector<std::int64_t> integers(int i, char const* what) const;
  /// An output that nobody reads is left out.
  void define(view v, int output = 0) const;

  bool given(char const* attribute) const { return op.attributes.count(attribute) != 0; }
  std::int64_t integer(char const* attribute, std::int64_t otherwise) const;
  float real(char const* attribute, float otherwise) const;
  std::string text(char const* attribute, char const* otherwise) const;
  std::vector<std::int64_t> list(char const* attribute, std::vector<std::int64_t> otherwise = {}) const;
  /// From an attribute in old operator sets, an input in newer ones.
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
rule_table const& rules();

/// -1 is the last axis; throws where there is none of that number.
int axis_of(std::int64_t axis, int rank);

}  // namespace ago::importer
