// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of packed weights, shared by the plan that sizes them, the packer that writes them and the kernels that
// read them.
#pragma once

#include <ago/plan/step.hpp>
#include <ago/plan/winograd_layout.hpp>

namespace ago {

/// K: the number of products that are added for each result.
constexpr int matrix_depth(step_data const& s) { return s.win.kernel_h * s.win.kernel_w * (s.in.c / s.groups); }

/// Packed weights of pointwise, convolution and im2col, for each group in turn, with N output channels per group
/// rounded up to whole vectors, and K = kernel_h * kernel_w * input channels per group, ordered (ky, kx, channel):
///   shift[N], then panels of `tile.vectors` vectors, the last of `tile.vectors_left` if that is not 0,
///   each panel [K][vectors * lanes].
/// With kernel_key::paired a vector holds two steps of K for half as many channels: lane 2 c + d belongs to
/// channel c and step d. Then N is rounded up to half vectors, and zeros follow every shift and an odd K:
///   shift[N][2], panels [(K + 1) / 2][vectors * lanes].
/// With kernel_key::in_runs zeros also follow every odd segment of the input.
struct matrix_layout {
  int group_channels;  ///< output channels of one group
  int padded_channels;
  int depth;  ///< K
  int panel;  ///< channels of a whole panel
  int steps;  ///< steps of K in one vector
  int zeros;  ///< most steps of zeros that may follow K, or its segments, in total
  constexpr long group_floats() const { return long(padded_channels) * steps * (rows() + 1); }
  constexpr long floats(int groups) const { return group_floats() * groups; }
  /// Rows of weights in a panel.
  constexpr int rows() const { return (depth + zeros) / steps; }
  /// Offset of the panel that starts at `first_channel`, from the start of the group.
  constexpr long panel_offset(int first_channel) const {
    return (padded_channels + long(first_channel) * rows()) * steps;
  }
};

/// Most steps of zeros that complete pairs: one after each odd segment, or one after K.
constexpr int zeros_in_pairs(kernel_key const& key, step_data const& s) { return key.in_runs ? s.odd_runs : 1; }

constexpr matrix_layout layout_of_matrix(kernel_key const& key, step_data const& s) {
  int const channels = s.out.c / s.groups, steps = key.paired ? 2 : 1, channels_in_vector = lanes(key.target) / steps;
  return {channels, (channels + channels_in_vector - 1) / channels_in_vector * channels_in_vector,
          matrix_depth(s), key.tile.vectors * channels_in_vector, steps,
          key.paired ? zeros_in_pairs(key, s) : 0};
}

/// Floats of the packed weights of depthwise: for each vector of channels the taps (ky, kx), then the shift,
/// [taps + 1][lanes].
constexpr long depthwise_floats(kernel_key const& key, step_data const& s) {
  return long(padded(s.out.c, key.target)) * (s.win.kernel_h * s.win.kernel_w + 1);
}

/// Floats of the packed weights of a step's main operator.
constexpr long packed_floats(kernel_key const& key, step_data const& s) {
  switch (key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col: return layout_of_matrix(key, s).floats(s.groups);
    case structure::depthwise: return depthwise_floats(key, s);
    case structure::winograd_2:
    case structure::winograd_4: return layout_of_winograd(key, s).weight_floats();
    case structure::embedding: return long(s.groups) * s.out.c;
    case structure::layer_norm: return 2L * padded(s.out.c, key.target);  // gamma, beta
    case structure::max_pool:
    case structure::avg_pool:
    case structure::global_max_pool:
    case structure::global_avg_pool:
    case structure::elementwise:
    case structure::from_nchw:
    case structure::to_nchw:
    case structure::matmul:
    case structure::attention_scores:
    case structure::attention_values:
    case structure::attention:
    case structure::softmax:
    case structure::copy:
    case structure::pad:
    case structure::resize_nearest:
    case structure::resize_bilinear:
    case structure::reduction:
    case structure::nest: return 0;
    case structure::contraction: break;
  }
  detail::no_case_for_this_value();
}

/// Floats of the packed parameters of an epilogue stage.
constexpr long packed_floats(stage const& after, isa target, shape const& out) {
  if (!is_parametric(after.kind)) return 0;
  switch (after.kind) {
    case op::bias:
    case op::scale:
    case op::prelu: return padded(out.c, target);
    case op::batch_norm: return 2L * padded(out.c, target);
    case op::positions: return long(out.h) * out.w * out.c;
    default: detail::no_case_for_this_value();
  }
}

}  // namespace ago
