// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a list of layers. Each is also recorded by ago's front end, which infers shapes and refuses misfits.
#pragma once

#include "layers.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::importer {

/// A reason why something cannot be imported.
struct unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class builder {
 public:
  /// Allows at most `most_weights` weights: a model of a few bytes can ask for any number.
  explicit builder(std::int64_t most_weights = tracing::int_limit) : most_weights_(most_weights) {}

  /// Sets the node that the following layers are made for.
  void origin(std::string name) { origin_ = std::move(name); }

  int add_input(input in);
  /// Throws `unsupported` if the library refuses the layer, and std::logic_error if the number of weights is wrong.
  int apply(layer_value layer, std::vector<int> operands, std::vector<float> weights = {});
  /// Throws `unsupported` if a table of these extents would exceed the allowed number of weights. Call it before making
  /// one.
  void afford(std::vector<std::int64_t> const& extents) const;
  void add_output(int v) { list_.outputs.push_back(v); }

  shape dims(int v) const { return list_.calls[std::size_t(v)].out; }
  call const& at(int v) const { return list_.calls[std::size_t(v)]; }
  int size() const { return int(list_.calls.size()); }
  call_list take() { return std::move(list_); }

 private:
  std::int64_t most_weights_;
  call_list list_;
  std::string origin_;
  tracing::recorder recorder_;
  std::vector<tensor> tensors_;
};

/// Records a call at run time, applied to the values of its operands.
tensor record(layer_value const& layer, std::vector<tensor> const& operands);
/// Records a whole network at run time, as a graph for passes, partition and plan. Names of nodes and functions are in
/// `network`, which must outlive the graph.
void record(call_list const& network, tracing::recorder& to);

}  // namespace ago::importer
