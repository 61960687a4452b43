// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph as the layers that inference engines have: batch norm folded into weights, clamps and additions attached.
#pragma once

#include "../graph_view.hpp"

#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace bench {

/// Why an engine cannot run a network.
struct unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// min(max(x, lower), upper)
struct clamp {
  float lower = -std::numeric_limits<float>::infinity(), upper = std::numeric_limits<float>::infinity();
  bool is_identity() const { return *this == clamp{}; }
  /// This clamp followed by `next`.
  clamp then(clamp next) const;
  bool operator==(clamp const&) const = default;
};

/// A layer reads values and writes one, which has the number of the layer.
struct layer {
  /// input, conv2d, depthwise, pointwise, linear, add (source + other), max_pool, avg_pool, global_avg_pool,
  /// clip (`after` alone), concat (`parts`), slice (from channel `begin`), channel_shuffle (`groups`),
  /// layer_norm, attention_values (of a whole attention: queries `source`, keys `other`, values parts[0], heads
  /// `groups`)
  ago::op kind{};
  int source = -1, other = -1;  ///< `other` of a convolution: the value added to its result
  std::vector<int> parts{};     ///< values whose channels are concatenated; attention: the values
  int begin = 0;
  ago::shape in{}, out{};  ///< of the operand, or of an attention's keys; of the result
  ago::ir::window win{};   ///< pads of a pooling extend to the end of its last window
  int groups = 1;          ///< depthwise: the channels
  bool count_pads = false;
  std::vector<float> weights{}, bias{};  ///< [out][in / groups][kernel_h][kernel_w], scaled; [out]; layer_norm: gamma,
                                         ///< beta
  float alpha = 0;                       ///< layer_norm: epsilon; attention: the factor of the scores
  clamp before{}, after{};               ///< convolutions: before and after the addition; without one, only `before`
  ago::op function = ago::op::identity;  ///< convolutions: silu or gelu, instead of both clamps and the addition
};

/// Is it a layer that only transformers have?
inline bool is_of_transformers(ago::op kind) {
  return kind == ago::op::layer_norm || kind == ago::op::attention_values;
}

/// Layers in execution order, network inputs first.
struct layer_list {
  std::vector<layer> layers;
  std::vector<int> outputs;      ///< layers whose values leave the network
  std::vector<int> last_reader;  ///< for each value; the reader of outputs is one beyond the last layer
};

/// Throws `unsupported` if a layer has no counterpart.
layer_list fuse_layers(graph_view const& graph, std::span<float const> parameters);

}  // namespace bench
