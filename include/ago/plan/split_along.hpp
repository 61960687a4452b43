// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a step can be divided into work items for several threads, and how long the longest one takes.
#pragma once

#include <ago/expression/common_divisor.hpp>
#include <ago/kernel/nest/layout.hpp>
#include <ago/plan/cycles.hpp>
#include <ago/plan/pieces.hpp>

namespace ago {

namespace detail {

/// The granule with which work items consist of whole register tiles of `tile` pixels or Winograd tiles, if each
/// element of the divided extent has `unit` of these: the kernel is compiled for only one remainder.
constexpr int whole_tiles(int tile, long unit) { return int(tile / common_divisor(tile, unit)); }

/// Does a stage of the epilogue depend on the image?
constexpr bool knows_images(planned_step const& p) {
  for (int i = 0; i < p.key.after.count(); ++i)
    if (p.key.after.stages[i].kind == op::positions || p.data.after[i].image_step != 0) return true;
  return false;
}

/// The granule in which one part can be divided along images; 0: it cannot.
constexpr int granule_of_images(planned_step const& p, bool alone) {
  planned_data const& s = p.data;
  if (s.in.n != s.out.n) return 0;
  switch (p.key.what) {
    case structure::pointwise: return alone ? 0 : 1;  // alone, it is divided along pixels
    case structure::convolution:
    case structure::depthwise:
    case structure::max_pool:
    case structure::avg_pool:
    case structure::global_max_pool:
    case structure::global_avg_pool:
    case structure::elementwise: return 1;
    case structure::im2col: return whole_tiles(p.key.tile.pixels, long(s.out.h) * s.out.w);
    case structure::attention: return s.other_shape.n == s.in.n;
    default: return 0;
  }
}

/// The granule along rows, as a part of a pipeline or alone.
constexpr int granule_of_rows(planned_step const& p, chain_tiling const& in, bool last) {
  planned_data const& s = p.data;
  window const& w = s.win;
  bool const sees_image = w.pad_top < w.span_h() && (s.out.h - 1) * w.stride_h - w.pad_top < s.in.h;
  if (s.in.n > 1 || s.out.n > 1 || !sees_image) return 0;
  switch (p.key.what) {
    case structure::pointwise:
      if (in.how == tiling::none || in.how == tiling::pixels) return 0;  // divided along pixels
      if (in.how != tiling::channels) return pipeline_rows;
      return last ? whole_tiles(p.key.tile.pixels, s.out.w) : 0;
    case structure::depthwise: return in.how == tiling::none ? p.key.tile.vectors : pipeline_rows;
    case structure::convolution:
    case structure::max_pool:
    case structure::avg_pool: return in.how == tiling::none ? 1 : pipeline_rows;
    case structure::im2col: return whole_tiles(p.key.tile.pixels, s.out.w);
    default: return 0;
  }
}

/// The granule along pixels, or along the tiles of Winograd.
constexpr int granule_of_pixels(planned_step const& p, chain_tiling const& in) {
  planned_data const& s = p.data;
  if (p.key.what == structure::nest) return nest_granule(layout_of_nest(p.key), *p.key.described);
  if (p.key.what == structure::contraction) return layout_of_contraction(p.key).granule();
  if (takes_portion(p.key.what)) return p.key.tile.pixels;
  if (s.in.pixels() != s.out.pixels() || (s.out.n > 1 && knows_images(p))) return 0;
  if (in.how == tiling::pixels) return in.tile;
  if (in.how != tiling::none) return 0;
  switch (p.key.what) {
    case structure::pointwise: return p.key.tile.pixels;
    case structure::layer_norm:
    case structure::softmax: return 8;
    case structure::elementwise: return s.in == s.out ? 8 : 0;
    default: return 0;
  }
}

/// The granule along channels, of a step or of the first part of a pipeline by channels that keeps no partial sums.
constexpr int granule_of_channels(planned_step const& p) {
  switch (p.key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col: return layout_of_matrix(p.key, p.data).panel;
    case structure::winograd_2:
    case structure::winograd_4: return layout_of_winograd(p.key, p.data).panel;
    case structure::depthwise: return lanes(p.key.target);
    case structure::attention: return p.data.in.c / p.data.groups;
    case structure::global_max_pool:
    case structure::global_avg_pool: return 16;  // a cache line
    default: return 0;
  }
}

/// The granule of a step or pipeline of `count` parts along `how`; 0: it cannot be divided like this. Along rows, the
/// work items of a pipeline compute the rows at their border twice if a window of a part behind the first one overlaps.
constexpr int granule_of(planned_step const* parts, int count, chain_tiling const& in, split how) {
  if (how == split::channels) {
    bool const whole = count == 1 || (by_channels(in.how) && !parts[count - 1].key.accumulates);
    return whole ? granule_of_channels(parts[0]) : 0;
  }
  long granule = 1;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    int const g = how == split::images   ? granule_of_images(p, count == 1)
                  : how == split::pixels ? granule_of_pixels(p, in)
                                         : granule_of_rows(p, in, i + 1 == count);
    granule = common_multiple(granule, g);
  }
  return int(granule);
}

/// Can work items begin at any pixel?
constexpr bool divides_anywhere(planned_step const& p) {
  return p.key.what == structure::layer_norm || p.key.what == structure::softmax ||
         (p.key.what == structure::elementwise && p.data.in == p.data.out);
}

/// Up to `threads` work items along `how`; one if the step cannot be divided like this.
constexpr step_split split_along(planned_step const* parts, int count, chain_tiling const& in, split how, int threads) {
  int const granule = granule_of(parts, count, in, how);
  if (granule == 0) return {};
  long const granules = (split_extent(parts, count, how) + granule - 1) / granule;
  if (granules < 2) return {};
  return {how, granules < threads ? int(granules) : threads, granule};
}

/// Quarter cycles of the work item that takes longest: those of its arithmetic, including rows that others compute too,
/// and until its input and its weights have come from beyond L2.
constexpr double longest_piece(planned_step const* parts, int count, chain_tiling const& in, step_split const& s,
                               device const& on) {
  long const extent = split_extent(parts, count, s.how);
  int longest = 0;
  for (int k = 1; k < s.pieces; ++k)  // of equals, one with two neighbours
    if (stretch_of(s, extent, k).size() + (k + 1 < s.pieces) > stretch_of(s, extent, longest).size()) longest = k;
  step_piece const piece = piece_of(parts, count, s, longest, {});
  bool const channels = s.how == split::channels;
  double const share = channels ? double(stretch_of(s, extent, longest).size()) / double(extent) : 1;
  double arithmetic = 0, floats = double(piece.part[0].in.count());
  for (int i = 0; i < count; ++i) {
    kernel_key const& key = parts[i].key;
    bool const shares_all = channels && winograd_tile(key.what) == 0;  // its input is transformed by every work item
    arithmetic += shares_all ? share * cycles_of(key, parts[i].data, in, on) : cycles_of(key, piece.part[i], in, on);
    floats += share * double(packed_floats(key, parts[i].data));
  }
  return arithmetic + on.line_from_memory * 4 * floats / 64;
}

}  // namespace detail

}  // namespace ago
