// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and pooling of volumes, by index expressions.
#pragma once

#include "images.hpp"

namespace ago::importer {

/// The arguments of ago's windows on volumes.
struct volume_window {
  extent3 kernel = 1, stride = 1, dilation = 1;
  pads3 pad = 0;
  bool ceil = false;

  /// In one to three directions, the last of which are columns.
  volume_window(std::vector<window_side> const& sides, bool ceil);
};

view conv_of_volume(node_reader const& n, std::vector<float> weights);
view conv_transpose_of_volume(node_reader const& n);
void max_pool_of_volume(node_reader const& n);
view avg_pool_of_volume(node_reader const& n);
view lp_pool_of_volume(node_reader const& n);

/// The extents of a result; of MaxPool, either output may be unread.
extents const& pooled_dims(node_reader const& n);

/// The second output of MaxPool, given the first one.
view places_of_maxima(node_reader const& n, volume_window const& w, view const& maxima);

/// Sets the pads of a transposed convolution in one direction, given the extent of its result; returns the output
/// padding.
int fit(node_reader const& n, window_side& s, int output_padding);

}  // namespace ago::importer
