// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytic default for dividing steps into work items for several threads.
#pragma once

#include <ago/plan/cycles.hpp>
#include <ago/plan/pieces.hpp>

namespace ago {

namespace detail {

/// Quarter cycles at 2.5 GHz for two threads to compute an empty step: 0.15 us with ago::team, measured on two cores of
/// an AMD Zen 5, a virtual machine. The rest is for results that are read from the other core's cache.
inline constexpr double barrier_cycles = 2500;

/// Quarter cycles to load a byte of weights or input from L2 or beyond, at 24 bytes a cycle.
inline constexpr double cycles_of_byte = 1. / 6;

constexpr long common_divisor(long a, long b) { return b == 0 ? a : common_divisor(b, a % b); }
constexpr long common_multiple(long a, long b) { return a == 0 || b == 0 ? 0 : a / common_divisor(a, b) * b; }

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
    case structure::winograd_2:
    case structure::winograd_4: return whole_tiles(p.key.tile.pixels, layout_of_winograd(p.key, s).tiles / s.out.n);
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
    case structure::winograd_2:
    case structure::winograd_4: {
      winograd_layout const l = layout_of_winograd(p.key, s);
      return l.tile * whole_tiles(p.key.tile.pixels, l.columns);
    }
    default: return 0;
  }
}

/// The granule along pixels.
constexpr int granule_of_pixels(planned_step const& p, chain_tiling const& in) {
  planned_data const& s = p.data;
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
    case structure::depthwise: return lanes(p.key.target);
    case structure::attention: return p.data.in.c / p.data.groups;
    default: return 0;
  }
}

/// The granule of a step or pipeline of `count` parts along `how`, such that nothing is computed twice; 0: it cannot be
/// divided like this.
constexpr int granule_of(planned_step const* parts, int count, chain_tiling const& in, split how) {
  if (how == split::channels) {
    bool const whole = count == 1 || (by_channels(in.how) && !parts[count - 1].key.accumulates);
    return whole ? granule_of_channels(parts[0]) : 0;
  }
  long granule = 1;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    bool const overlaps = i > 0 && p.data.win.span_h() > p.data.win.stride_h;
    int const g = how == split::images ? granule_of_images(p, count == 1)
                  : how == split::pixels ? granule_of_pixels(p, in)
                  : overlaps             ? 0
                                         : granule_of_rows(p, in, i + 1 == count);
    granule = common_multiple(granule, g);
  }
  return int(granule);
}

/// Quarter cycles of a step: of its arithmetic, and of loading its input and weights. of(): those of a work item with
/// `share` of the step.
struct step_cycles {
  double arithmetic = 0, input = 0, weights = 0;
  constexpr double of(split how, double share) const {
    bool const all_weights = how != split::channels;
    return arithmetic * share + input * (all_weights ? share : 1) + weights * (all_weights ? 1 : share);
  }
};
constexpr step_cycles cycles_of_step(planned_step const* parts, int count, chain_tiling const& in) {
  step_cycles r;
  for (int i = 0; i < count; ++i) {
    r.arithmetic += cycles_of(parts[i].key, parts[i].data, in);
    r.weights += cycles_of_byte * 4 * double(packed_floats(parts[i].key, parts[i].data));
  }
  r.input = cycles_of_byte * 4 * double(parts[0].data.in.count());
  return r;
}

/// Up to `threads` work items along `how`; one if the step cannot be divided like this.
constexpr step_split split_along(planned_step const* parts, int count, chain_tiling const& in, split how, int threads) {
  int const granule = granule_of(parts, count, in, how);
  if (granule == 0) return {};
  long const granules = (split_extent(parts, count, how) + granule - 1) / granule;
  if (granules < 2) return {};
  return {how, granules < threads ? int(granules) : threads, granule};
}

/// The share of the step that the largest work item has.
constexpr double share_of(planned_step const* parts, int count, step_split const& s) {
  long const extent = split_extent(parts, count, s.how);
  long most = 0;
  for (int k = 0; k < s.pieces; ++k) {
    long const size = stretch_of(s, extent, k).size();
    most = size > most ? size : most;
  }
  return double(most) / double(extent);
}

/// The fastest way to divide a step, if it saves at least twice the cost of the barrier. A wish is obeyed if possible.
constexpr step_split choose_split(planned_step const* parts, int count, chain_tiling const& in, split wish,
                                  int threads) {
  if (wish == split::whole) return {};
  if (step_split const s = split_along(parts, count, in, wish, threads); wish != split::none && s.pieces > 1) return s;
  step_cycles const cycles = cycles_of_step(parts, count, in);
  double least = cycles.of(split::none, 1) - 2 * barrier_cycles;
  step_split best{};
  for (split const how : {split::images, split::rows, split::pixels, split::channels}) {
    step_split const s = split_along(parts, count, in, how, threads);
    if (s.pieces == 1) continue;
    double const time = cycles.of(how, share_of(parts, count, s));
    if (time >= least) continue;
    least = time;
    best = s;
  }
  return best;
}

}  // namespace detail

/// How each group of steps is divided: according to `table`, or otherwise where it pays by the analytic model.
template <int S, int N>
constexpr split_list<S> split_steps(fusion_list<S> const& groups, plan<N> const& p, options const& o,
                                    auto const& table) {
  split_list<S> r;
  for (int k = 0; k < groups.count && o.device.threads > 1; ++k) {
    planned_step const* const parts = p.steps + groups.first[k];
    auto const wish = table.find(parts[groups.parts[k] > 1 ? 1 : 0].signature);
    split const how = wish ? wish->split : split::none;
    r.of[k] = detail::choose_split(parts, groups.parts[k], groups.tiles[k], how, o.device.threads);
  }
  return r;
}

}  // namespace ago
