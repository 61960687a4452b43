// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tiles of Winograd convolution, and the layout of its packed weights and its scratch.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Winograd's minimal filtering F(tile x tile, 3 x 3): every tile x tile outputs are computed from a patch of
/// (tile + 2)^2 inputs, which is transformed into as many points. At each point there is a matrix product over
/// channels.
///
/// Packed weights: shift[N], with N output channels rounded up to whole vectors; then for each panel of `panel`
/// channels, of which the last may have fewer, [points][K][channels of the panel], with K input channels.
/// Scratch, for a block of tiles: transformed inputs [points][tiles][K rounded up to vectors], and the products of one
/// panel [tiles][points][panel].
///
/// With kernel_key::points_first the packed weights are [points], for each the panels of all channels, and the products
/// are those of all panels, [points][tiles][N]. Each point's inputs are then read while they are in L1, which takes
/// more scratch.
struct winograd_layout {
  int tile;           ///< outputs of a tile along one axis
  int rows, columns;  ///< tiles that cover an image
  int tiles;          ///< of all images
  int block;          ///< tiles computed at a time: whole register tiles, except in the last block
  int depth;          ///< input channels
  int padded_depth, padded_channels;
  int panel;  ///< channels of a whole panel
  bool points_first;

  constexpr int points() const { return (tile + 2) * (tile + 2); }
  constexpr long weight_floats() const { return padded_channels * (1 + long(points()) * depth); }
  /// Offset of the panel that starts at `first_channel`, at point 0.
  constexpr long panel_offset(int first_channel) const {
    return padded_channels + long(first_channel) * depth * (points_first ? 1 : points());
  }
  /// Floats from the weights of a panel of `width` channels at one point to those at the next point.
  constexpr long weights_stride(int width) const { return long(depth) * (points_first ? padded_channels : width); }
  /// Floats between two points of the transformed inputs: an odd number of cache lines, so that the points of one tile
  /// do not compete for the same cache set.
  constexpr long point_stride() const { return odd_lines(long(block) * padded_depth); }
  /// The same of the products, if points come first.
  constexpr long product_stride() const { return odd_lines(long(block) * padded_channels); }
  /// Offset of the products in the scratch.
  constexpr long products() const { return points() * point_stride(); }
  constexpr long scratch_floats() const {
    return products() + points() * (points_first ? product_stride() : long(block) * panel);
  }

 private:
  static constexpr long odd_lines(long floats) { return ((floats + 15) >> 4 | 1) * 16; }
};

/// 0: another structure.
constexpr int winograd_tile(structure what) {
  return what == structure::winograd_2 ? 2 : what == structure::winograd_4 ? 4 : 0;
}

constexpr winograd_layout layout_of_winograd(kernel_key const& key, step_data const& s) {
  winograd_layout r{};
  int const tile = r.tile = winograd_tile(key.what);
  r.rows = (s.out.h + tile - 1) / tile;
  r.columns = (s.out.w + tile - 1) / tile;
  r.tiles = s.out.n * r.rows * r.columns;
  int const whole = (s.block + key.tile.pixels - 1) / key.tile.pixels * key.tile.pixels;
  r.block = s.block <= 0 || whole > r.tiles ? r.tiles : whole;
  r.depth = s.in.c;
  r.padded_depth = padded(s.in.c, key.target);
  r.padded_channels = padded(s.out.c, key.target);
  r.panel = key.tile.vectors * lanes(key.target);
  r.points_first = key.points_first;
  return r;
}

}  // namespace ago::kernel
