// The analytic default schedule of matrix products: register tile and cache block.
#pragma once

#include <ago/plan/schedule.hpp>
#include <ago/plan/step.hpp>

namespace ago {

/// The menu of register tiles: accumulators, one row of weights and the inputs being multiplied fit the registers.
constexpr bool is_matrix_tile(isa target, int pixels, int vectors) {
  if (pixels < 1 || vectors < 1) return false;
  int const inputs = target == isa::neon ? pixels : 1;
  return pixels * vectors + vectors + inputs <= vector_registers(target);
}

namespace detail {

constexpr register_tile with_remainders(int pixels, int vectors, long pixels_in_line, int vectors_in_all) {
  return {pixels, vectors, int(pixels_in_line % pixels), vectors_in_all % vectors};
}

/// Quarter cycles that one step of the depth takes with two multiply-add and two load ports, and a latency of four.
constexpr long tile_cost(isa target, int pixels, int vectors) {
  if (pixels == 0 || vectors == 0) return 0;
  long const products = 2L * pixels * vectors;
  long const loads = target == isa::neon ? 2 * vectors + (pixels + 1) / 2 : 2L * (pixels + vectors);
  long const most = products > loads ? products : loads;
  return most > 16 ? most : 16;
}

}  // namespace detail

/// The register tile for lines of `pixels_in_line` pixels that are computed alike, and `channels` output channels (of
/// one group). A wish (pixels and vectors not 0) that is on the menu is obeyed.
constexpr register_tile matrix_tile(structure, isa target, long pixels_in_line, int channels, schedule const& wish) {
  int const vectors_in_all = padded(channels, target) / lanes(target);
  if (is_matrix_tile(target, wish.pixels, wish.vectors))
    return detail::with_remainders(wish.pixels, wish.vectors, pixels_in_line, vectors_in_all);
  register_tile best{};
  long best_cost = -1;
  for (int v = 1; v <= vectors_in_all && is_matrix_tile(target, 1, v); ++v)
    for (int p = 1; p <= pixels_in_line && p <= 14 && is_matrix_tile(target, p, v); ++p) {
      register_tile const t = detail::with_remainders(p, v, pixels_in_line, vectors_in_all);
      long const tiles = pixels_in_line / p, panels = vectors_in_all / v;
      long const cost =
          tiles * (panels * detail::tile_cost(target, p, v) + detail::tile_cost(target, p, t.vectors_left)) +
          panels * detail::tile_cost(target, t.pixels_left, v) + detail::tile_cost(target, t.pixels_left, t.vectors_left);
      if (best_cost < 0 || cost < best_cost) {
        best = t;
        best_cost = cost;
      }
    }
  return best;
}

/// The cache block, see step_data::block.
constexpr int matrix_block(kernel_key const&, step_data const&, schedule const& wish) {
  return wish.block > 0 ? wish.block : 0;
}

}  // namespace ago
