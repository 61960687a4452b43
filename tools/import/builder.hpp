// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a list of layers and has each of them recorded by ago's own front end, which knows shapes and refuses misfits.
#pragma once

#include "layers.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::importer {

/// What cannot be imported, in a sentence.
struct unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class builder {
 public:
  /// Takes no more weights than `most_weights`: a model of a few bytes can ask for any number of them.
  explicit builder(std::int64_t most_weights = detail::int_limit) : most_weights_(most_weights) {}

  /// Whoever makes layers says for which node.
  void origin(std::string name) { origin_ = std::move(name); }

  int add_input(input in);
  /// Throws `unsupported` where the library refuses the layer, and std::logic_error if it takes other weights.
  int apply(layer_value layer, std::vector<int> operands, std::vector<float> weights = {});
  /// Throws `unsupported` where a table of these extents would be more weights than there may be. To be asked before
  /// one is made.
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
  detail::recorder recorder_;
  std::vector<tensor> tensors_;
};

/// Records a call at run time on the values of its operands.
tensor record(layer_value const& layer, std::vector<tensor> const& operands);
/// Records a whole network at run time, as a graph that passes, partition and plan can work on. Nodes have the names of
/// the ONNX nodes, and maps functions, both in `network`, which has to outlive them.
void record(call_list const& network, detail::recorder& to);

}  // namespace ago::importer
