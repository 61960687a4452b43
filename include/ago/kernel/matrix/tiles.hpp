// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tiles and cache tiles of matrix products that a tuner tries.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>
#include <ago/plan/tile_options.hpp>

#include <initializer_list>

namespace ago::kernel {

/// For each number of vectors, the cheapest number of pixels, or several if there are few numbers of vectors.
constexpr tile_options matrix_tiles(kernel_key const& key, long pixels, int vectors, int depth, int packing = 0) {
  isa const target = key.target;
  int const of_each = vectors < tiles_alone ? (tiles_alone + vectors - 1) / vectors : 1;
  tile_ranking all;
  for (int v = 1; v <= vectors && is_matrix_tile(target, 1, v); ++v) {
    tile_ranking r;
    for (int p = 1; p <= pixels && p <= longest_tile(v) && is_matrix_tile(target, p, v); ++p)
      if (p != key.tile.pixels || v != key.tile.vectors)
        r.offer({p, v, packing}, matrix_cost({key.target, key.in_order}, {p, v, int(pixels % p), vectors % v}, pixels,
                                             vectors, depth, false));
    for (int k = 0; k < of_each && k < r.best.count; ++k) all.offer(r.best.option[k], r.cost[k]);
  }
  return all.best;
}

constexpr tile_options matrix_tiles(kernel_key const& key, step_data const& s, int packing = 0) {
  int const vectors = padded(s.out.c / s.groups * (key.paired ? 2 : 1), key.target) / lanes(key.target);
  return matrix_tiles(key, pixels_in_line(key.what, s), vectors, matrix_depth(s), packing);
}

/// Those with the packing of weights that `key` does not use.
constexpr tile_options repacked_matrix_tiles(kernel_key const& key, step_data const& s) {
  if (!can_pair(key)) return {};
  kernel_key other = key;
  other.paired = !key.paired;
  other.tile = {0, 0};  // matches no tile, so none is left out
  return matrix_tiles(other, s, other.paired ? 2 : 1);
}

/// From one register tile or row at a time, which reads all weights for each (pixels outermost), over blocks of 16, 64
/// and 256 KB of input, to all of the input (panels of channels outermost).
constexpr block_options matrix_blocks(kernel_key const& key, step_data const& s) {
  block_options r;
  bool const rows = key.what == structure::convolution;
  matrix_layout const layout = layout_of_matrix(key, s);
  if (layout.padded_channels <= layout.panel) return r;  // with one panel, the input is read once
  long const line = 4L * (rows ? long(s.in.w) * s.in.c * s.win.stride_h : s.in.c);
  long const extent = rows ? s.out.h : s.out.pixels(), tile = rows ? 1 : key.tile.pixels;
  if (extent > tile) r.offer(1);
  for (long const kilobytes : {16, 64, 256}) {
    long const lines = (kilobytes << 10) / line / tile * tile;
    if (lines > tile && lines < extent) r.offer(lines);
  }
  if (s.block > 0) r.offer(extent);
  return r;
}

}  // namespace ago::kernel
