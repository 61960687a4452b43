// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of the packed weights of matrix products.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::kernel {

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
  return {channels,        (channels + channels_in_vector - 1) / channels_in_vector * channels_in_vector,
          matrix_depth(s), key.tile.vectors * channels_in_vector,
          steps,           key.paired ? zeros_in_pairs(key, s) : 0};
}

/// The step as the kernel computes it: with kernel_key::joined_pixels, neighbouring pixels of a row are one with the
/// channels of all, so that few channels fill a register. Its window has the columns of all of theirs, and weights of
/// zero where a pixel's own window has none.
template <class Step>
constexpr Step with_joined_pixels(kernel_key const& key, Step s) {
  int const pixels = key.joined_pixels;
  s.out.w /= pixels;
  s.out.c *= pixels;
  s.win.kernel_w += (pixels - 1) * s.win.stride_w;
  s.win.stride_w *= pixels;
  s.destination.pixel_stride *= pixels;
  return s;
}

/// The part of a key that decides the code of one panel of weights, for a given number of vectors.
constexpr kernel_key key_of_panels(kernel_key k) {
  if (k.what == structure::im2col) k.what = structure::pointwise;
  k.joined_pixels = 1;
  k.tile.vectors = 1;
  k.tile.vectors_left = 0;
  k.partial = false;
  return k;
}

}  // namespace ago::kernel
