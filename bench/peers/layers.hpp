// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph as the layers that inference engines offer: batch norm folded into weights, clamps and additions attached.
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
  /// First this, then the other.
  clamp then(clamp next) const;
  bool operator==(clamp const&) const = default;
};

/// Reads values and writes one; values have the number of the layer that writes them.
struct layer {
  /// input, conv2d, depthwise, pointwise, linear, add (source + other), max_pool, avg_pool, global_avg_pool,
  /// clip (`after` alone), concat (`parts`), slice (from channel `begin`), channel_shuffle (`groups`)
  ago::op kind{};
  int source = -1, other = -1;  ///< `other` of a convolution: what is added to its result
  std::vector<int> parts{};     ///< values whose channels are joined
  int begin = 0;
  ago::shape in{}, out{};
  ago::window win{};  ///< pads of pooling reach as far as the last window does
  int groups = 1;     ///< depthwise: the channels
  bool count_pads = false;
  std::vector<float> weights{}, bias{};  ///< [out][in / groups][kernel_h][kernel_w], scaled; [out]
  clamp before{}, after{};               ///< convolutions: before and after the addition; without one, `before` is all
  ago::op function = ago::op::identity;  ///< convolutions: silu or gelu, in the place of both clamps and the addition
};

/// Layers in an order that runs, network inputs first.
struct layer_list {
  std::vector<layer> layers;
  std::vector<int> outputs;      ///< layers whose values leave the network
  std::vector<int> last_reader;  ///< for each value; outputs are read by a layer beyond the last
};

/// Throws `unsupported` where a layer has no counterpart.
layer_list fuse_layers(graph_view const& graph, std::span<float const> parameters);

}  // namespace bench
