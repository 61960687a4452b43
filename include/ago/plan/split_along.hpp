// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a step can be divided into work items for several threads, and how long the longest one takes.
#pragma once

#include <ago/expression/common_divisor.hpp>
#include <ago/plan/pieces.hpp>

namespace ago::plan {

/// Does a stage of the epilogue depend on the image?
constexpr bool knows_images(planned_step const& p) {
  for (int i = 0; i < p.key.after.count(); ++i)
    if (p.key.after.stages[i].kind == op::positions || p.data.after[i].image_step != 0) return true;
  return false;
}

/// The granule in which one part can be divided along images; 0: it cannot.
constexpr int granule_of_images(planned_step const& p, chain_tiling const& in, bool alone) {
  planned_data const& s = p.data;
  if (s.in.n != s.out.n) return 0;
  // Runs of pixels continue across images: kernels are compiled for what the last of all leaves.
  if (in.how == tiling::pixels) return whole_tiles(in.tile, long(s.out.h) * s.out.w);
  return facts_of(p.key.what).granule_of_images(p.key, s, alone);
}

/// The granule along rows, as a part of a pipeline or alone.
constexpr int granule_of_rows(planned_step const& p, chain_tiling const& in, bool last) {
  planned_data const& s = p.data;
  window const& w = s.win;
  bool const sees_image = w.pad_top < w.span_h() && (s.out.h - 1) * w.stride_h - w.pad_top < s.in.h;
  if (s.in.n > 1 || s.out.n > 1 || !sees_image) return 0;
  return facts_of(p.key.what).granule_of_rows(p.key, s, in, last);
}

constexpr pixel_cut cut_of_pixels(planned_step const& p) { return facts_of(p.key.what).cut_of_pixels(p.key, p.data); }

/// The granule along pixels, or along the tiles of Winograd.
constexpr int granule_of_pixels(planned_step const& p, chain_tiling const& in) {
  planned_data const& s = p.data;
  if (takes_portion(p.key.what)) return cut_of_pixels(p).granule;
  if (s.in.pixels() != s.out.pixels() || (s.out.n > 1 && knows_images(p))) return 0;
  if (in.how == tiling::pixels) return in.tile;
  return in.how == tiling::none ? cut_of_pixels(p).granule : 0;
}

/// The granule of a step or pipeline of `count` parts along `how`; 0: it cannot be divided like this. Along rows, the
/// work items of a pipeline compute the rows at their border twice if a window of a part behind the first one overlaps.
constexpr int granule_of(planned_step const* parts, int count, chain_tiling const& in, split how) {
  if (in.how == tiling::fold) return 0;
  if (how == split::channels) {
    bool const whole = count == 1 || (by_channels(in.how) && !parts[count - 1].key.accumulates);
    return whole ? cut_of_channels(parts[0]).granule : 0;
  }
  if (in.how == tiling::operand)  // each work item computes all of the operand that it copies
    return how == split::pixels ? cut_of_pixels(parts[count - 1]).granule : 0;
  long granule = 1;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    int const g = how == split::images   ? granule_of_images(p, in, count == 1)
                  : how == split::pixels ? granule_of_pixels(p, in)
                                         : granule_of_rows(p, in, i + 1 == count);
    granule = expression::common_multiple(granule, g);
  }
  return int(granule);
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
    bool const shares_all = channels && !cut_of_channels(parts[i]).repeats;
    arithmetic += shares_all ? share * cycles_of(key, parts[i].data, in, on) : cycles_of(key, piece.part[i], in, on);
    floats += share * double(kernel::packed_floats(key, parts[i].data));
  }
  return arithmetic + on.line_from_memory * 4 * floats / 64;
}

}  // namespace ago::plan
