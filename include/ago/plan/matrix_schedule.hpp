// The analytic default schedule of matrix products (pointwise, linear, convolution): register tile and cache block.
#pragma once

#include <ago/plan/schedule.hpp>
#include <ago/plan/step.hpp>

namespace ago {

/// The menu of register tiles: `pixels` x `vectors` accumulators, one row of weights, and the inputs being multiplied
/// (one; with lane multiplies one per pixel; SSE also needs a register for the product) fit the registers.
constexpr bool is_matrix_tile(isa target, int pixels, int vectors) {
  if (pixels < 1 || vectors < 1) return false;
  int const inputs = target == isa::neon ? pixels : target == isa::sse2 || target == isa::sse42 ? 2 : 1;
  return pixels * vectors + vectors + inputs <= vector_registers(target);
}

namespace detail {

/// Quarter cycles that a tile takes for one step of the depth, on a core with two multiply-add and two load ports and a
/// multiply-add latency of four cycles, which no schedule quite meets; two more for what surrounds the inner loop.
constexpr long tile_cost(isa target, int pixels, int vectors) {
  if (pixels == 0 || vectors == 0) return 0;
  long const products = 2L * pixels * vectors;
  long const loads = target == isa::neon ? 2L * vectors + (pixels + 1) / 2 : 2L * (pixels + vectors);
  long const most = products > loads ? products : loads;
  return (most > 18 ? most : 18) + 2;
}

/// The same for a whole line of pixels and all channels, with half a per cent for each kind of left-over tile: that is
/// more code for the same work.
constexpr long matrix_cost(isa target, register_tile const& t, long pixels, int vectors) {
  long const tiles = pixels / t.pixels, panels = vectors / t.vectors;
  long const cost = tiles * panels * tile_cost(target, t.pixels, t.vectors) +
                    tiles * tile_cost(target, t.pixels, t.vectors_left) +
                    panels * tile_cost(target, t.pixels_left, t.vectors) +
                    tile_cost(target, t.pixels_left, t.vectors_left);
  return cost * (200 + (t.pixels_left > 0) + (t.vectors_left > 0));
}

/// Longest tile of one vector, and of more: each pixel takes a general register for its displacement.
constexpr int longest_tile(int vectors) { return vectors == 1 ? 12 : 14; }

/// Pixels of a line that are computed alike: all of a matrix product; of a convolution the columns that see the whole
/// window, if there are any.
constexpr long pixels_in_line(structure what, step_data const& s) {
  if (what == structure::pointwise) return s.out.pixels();
  int const first = (s.win.pad_left + s.win.stride_w - 1) / s.win.stride_w;
  int const room = s.in.w + s.win.pad_left - s.win.span_w();
  int const last = room < 0 ? 0 : room / s.win.stride_w + 1;
  int const interior = (last < s.out.w ? last : s.out.w) - first;
  return interior > 0 ? interior : s.out.w;
}

}  // namespace detail

/// The register tile for lines of `pixels` pixels that are computed alike, and `channels` output channels (of one
/// group). A wish (pixels and vectors not 0) that is on the menu is obeyed. `streams`: little is computed for an output
/// that exceeds the caches. It is then best written in long runs, by small tiles whose stores overlap with the next
/// one.
constexpr register_tile matrix_tile(structure, isa target, long pixels, int channels, schedule const& wish,
                                    bool streams = false) {
  int const vectors = padded(channels, target) / lanes(target), registers = vector_registers(target);
  auto const tile = [=](int p, int v) { return register_tile{p, v, int(pixels % p), vectors % v}; };
  if (is_matrix_tile(target, wish.pixels, wish.vectors)) return tile(wish.pixels, wish.vectors);
  if (streams) {
    int const panels = (vectors + registers / 4 - 1) / (registers / 4), v = (vectors + panels - 1) / panels;
    int const p = (registers * 3 / 8 + v - 1) / v;
    if (v > 1 && p <= pixels) return tile(p, v);
  }
  register_tile best = tile(1, 1);
  long best_cost = detail::matrix_cost(target, best, pixels, vectors);
  for (int v = 1; v <= vectors && is_matrix_tile(target, 1, v); ++v)
    for (int p = 1; p <= pixels && p <= detail::longest_tile(v) && is_matrix_tile(target, p, v); ++p) {
      long const cost = detail::matrix_cost(target, tile(p, v), pixels, vectors);
      if (cost >= best_cost) continue;
      best = tile(p, v);
      best_cost = cost;
    }
  return best;
}

/// The cache block, see step_data::block: with several panels of channels and an input beyond 1 MB, as many pixels or
/// rows as keep 256 KB of input close by, while all panels pass over them.
constexpr int matrix_block(kernel_key const& key, step_data const& s, schedule const& wish) {
  if (wish.block > 0) return wish.block;
  bool const by_rows = key.what == structure::convolution;
  long const floats = by_rows ? long(s.in.w) * s.in.c * s.win.stride_h : s.in.c;  // input of one pixel or row
  long const extent = by_rows ? s.out.h : s.out.pixels();
  bool const one_panel = padded(s.out.c / s.groups, key.target) <= key.tile.vectors * lanes(key.target);
  if (one_panel || extent * floats <= 1L << 18) return 0;
  long const close = (1L << 16) / floats, least = by_rows ? 2 : 8L * key.tile.pixels;
  long const block = close > least ? close : least;
  return block >= extent ? 0 : int(by_rows ? block : block / key.tile.pixels * key.tile.pixels);
}

/// Both for one step. `pipelined`: it computes a few rows at a time, into a ring.
constexpr void choose_matrix(kernel_key& key, step_data& s, schedule const& wish, bool pipelined = false) {
  int const depth = s.win.kernel_h * s.win.kernel_w * (s.in.c / s.groups);
  bool const streams = depth < 128 && s.out.count() > 1L << 19 && !pipelined;
  long const pixels = pipelined && key.what == structure::pointwise ? s.out.w : detail::pixels_in_line(key.what, s);
  key.tile = matrix_tile(key.what, key.target, pixels, s.out.c / s.groups, wish, streams);
  s.block = pipelined ? wish.block : matrix_block(key, s, wish);
}

}  // namespace ago
