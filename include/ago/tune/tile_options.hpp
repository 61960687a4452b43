// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tiles, packings of weights and cache tiles that are tried for one step.
#pragma once

#include <ago/plan/cycles.hpp>
#include <ago/plan/plan.hpp>

namespace ago::tuner {

/// Number of options of each kind, without the default. Options that change code are compiled into the tuner.
inline constexpr int tiles_alone = 6;        ///< register tiles of a step computed alone
inline constexpr int tiles_in_pipeline = 2;  ///< the first of these, for one part of a pipeline at a time
inline constexpr int tiles_repacked = 1;     ///< with the other packing of weights, also in pipelines
inline constexpr int most_blocks = 5;        ///< cache tiles

/// A register tile as a schedule requests it: pixels and vectors, or columns and rows of a depthwise step. The number
/// of vectors depends on the packing, so both are one choice.
struct tile_option {
  int pixels = 0, vectors = 0;
  int packing = 0;  ///< schedule::packing; 0: that of the default
};

/// Best first, by the analytic cost.
struct tile_options {
  tile_option option[tiles_alone]{};
  int count = 0;

  /// The schedule that requests option k; an empty one beyond the last.
  constexpr schedule wish(int k) const {
    schedule s;
    if (k < 0 || k >= count) return s;
    s.pixels = option[k].pixels;
    s.vectors = option[k].vectors;
    s.packing = option[k].packing;
    return s;
  }
};

namespace detail {

/// The cheapest of the tiles offered.
struct tile_ranking {
  tile_options best{};
  long cost[tiles_alone]{};

  constexpr void offer(tile_option t, long c) {
    int at = best.count;
    while (at > 0 && cost[at - 1] > c) --at;
    if (at == tiles_alone) return;
    if (best.count < tiles_alone) ++best.count;
    for (int k = best.count - 1; k > at; --k) {
      best.option[k] = best.option[k - 1];
      cost[k] = cost[k - 1];
    }
    best.option[at] = t;
    cost[at] = c;
  }
};

/// For each number of vectors, the cheapest number of pixels, or several if there are few numbers of vectors.
constexpr tile_options matrix_tiles(kernel_key const& key, long pixels, int vectors, int depth, int packing = 0) {
  isa const target = key.target;
  int const of_each = vectors < tiles_alone ? (tiles_alone + vectors - 1) / vectors : 1;
  tile_ranking all;
  for (int v = 1; v <= vectors && is_matrix_tile(target, 1, v); ++v) {
    tile_ranking r;
    for (int p = 1; p <= pixels && p <= ago::detail::longest_tile(v) && is_matrix_tile(target, p, v); ++p)
      if (p != key.tile.pixels || v != key.tile.vectors)
        r.offer({p, v, packing},
                ago::detail::matrix_cost({key.target, key.in_order}, {p, v, int(pixels % p), vectors % v}, pixels,
                                         vectors, depth, false));
    for (int k = 0; k < of_each && k < r.best.count; ++k) all.offer(r.best.option[k], r.cost[k]);
  }
  return all.best;
}

constexpr tile_options matrix_tiles(planned_step const& usual, int packing = 0) {
  kernel_key const& key = usual.key;
  step_data const& s = usual.data;
  int const vectors = padded(s.out.c / s.groups * (key.paired ? 2 : 1), key.target) / lanes(key.target);
  return matrix_tiles(key, ago::detail::pixels_in_line(key.what, s), vectors, matrix_depth(s), packing);
}
constexpr tile_options contraction_tiles(planned_step const& usual) {
  contraction_layout const l = layout_of_contraction(usual.key);
  kernel_key key = usual.key;
  key.tile = l.tile;
  return matrix_tiles(key, l.rows, l.vectors, l.depth);
}

/// One to four rows of up to eight columns; one row if the window is not known at compile time.
constexpr tile_options depthwise_tiles(planned_step const& usual) {
  step_data const& s = usual.data;
  tile_ranking r;
  for (int rows = 1; rows <= (usual.key.kernel_h > 0 ? 4 : 1) && rows <= s.out.h; ++rows)
    for (int columns = 2; columns <= 8 && columns <= s.out.w; ++columns) {
      if (columns == usual.key.tile.pixels && rows == usual.key.tile.vectors) continue;
      r.offer({columns, rows}, depthwise_cost(usual.key.target, s, columns, rows));
    }
  return r.best;
}

}  // namespace detail

/// The register tiles that are tried for a step, besides that of `usual`, its plan without a schedule.
constexpr tile_options tiles_of(planned_step const& usual) {
  if (is_matrix(usual.key.what)) return detail::matrix_tiles(usual);
  if (usual.key.what == structure::depthwise) return detail::depthwise_tiles(usual);
  if (usual.key.what == structure::contraction) return detail::contraction_tiles(usual);
  return {};
}

/// The best tiles for the packing of weights that `usual` does not use.
constexpr tile_options repacked_tiles_of(planned_step const& usual) {
  if (!can_pair(usual.key)) return {};
  planned_step other = usual;
  other.key.paired = !usual.key.paired;
  other.key.tile = {0, 0};  // matches no tile, so none is left out
  tile_options r = detail::matrix_tiles(other, other.key.paired ? 2 : 1);
  if (r.count > tiles_repacked) r.count = tiles_repacked;
  return r;
}

/// Cache tiles, see step_data::block.
struct block_options {
  int block[most_blocks]{};
  int count = 0;

  constexpr void offer(long size) {
    if (size <= 0 || count == most_blocks) return;
    for (int k = 0; k < count; ++k)
      if (block[k] == size) return;
    block[count++] = int(size);
  }
};

/// The cache tiles that are tried for a step, besides that of `usual`. They determine the order of its loops. For a
/// matrix product they range from one register tile or row at a time, which reads all weights for each (pixels
/// outermost), over blocks of 16, 64 and 256 KB of input, to all of the input (panels of channels outermost). For a
/// depthwise step they range from one vector of channels at a time to all vectors for each register tile.
constexpr block_options blocks_of(planned_step const& usual) {
  block_options r;
  step_data const& s = usual.data;
  if (usual.key.what == structure::depthwise) {
    int const vectors = padded(s.out.c, usual.key.target) / lanes(usual.key.target);
    for (int const v : {1, 2, 4, 8})
      if (v < vectors) r.offer(v);
    if (usual.data.block > 0) r.offer(vectors);
  }
  if (!is_matrix(usual.key.what)) return r;
  bool const rows = usual.key.what == structure::convolution;
  matrix_layout const layout = layout_of_matrix(usual.key, s);
  if (layout.padded_channels <= layout.panel) return r;  // with one panel, the input is read once
  long const line = 4L * (rows ? long(s.in.w) * s.in.c * s.win.stride_h : s.in.c);
  long const extent = rows ? s.out.h : s.out.pixels(), tile = rows ? 1 : usual.key.tile.pixels;
  if (extent > tile) r.offer(1);
  for (long const kilobytes : {16, 64, 256}) {
    long const lines = (kilobytes << 10) / line / tile * tile;
    if (lines > tile && lines < extent) r.offer(lines);
  }
  if (usual.data.block > 0) r.offer(extent);
  return r;
}

}  // namespace ago::tuner
