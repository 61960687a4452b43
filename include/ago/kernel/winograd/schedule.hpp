// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of Winograd convolution, and its analytic default schedule: register tile and block.
#pragma once

#include <ago/kernel/matrix/im2col_schedule.hpp>
#include <ago/kernel/winograd/layout.hpp>
#include <ago/partition/device.hpp>

namespace ago::kernel {

/// Can Winograd compute this convolution?
constexpr bool suits_winograd(step_data const& s) { return s.win.is_dense_square(3) && s.groups == 1; }

/// Quarter cycles of all transforms. Transforming one tile takes 40 cycles for each register of inputs and 30 for each
/// register of outputs with F(2x2, 3x3), 130 and 110 with F(4x4, 3x3) (measured with AVX-512); on cores that issue in
/// order 160 and 120, 580 and 280 (by the model of bench/arm), and half a cycle for each transformed float, which
/// misses L1 when it is written and when it is read.
constexpr long transform_cost(winograd_layout const& l, tile_machine on) {
  bool const small = l.tile == 2;
  long const input = on.in_order ? (small ? 640 : 2320) : small ? 160 : 520;
  long const output = on.in_order ? (small ? 480 : 1120) : small ? 120 : 440;
  long const misses = on.in_order ? 2L * l.points() * (l.padded_depth + l.padded_channels) : 0;
  int const size = lanes(on.target);
  return l.tiles * (l.padded_depth / size * input + l.padded_channels / size * output + misses);
}

/// The best register tile whose products, of all points, are still in L1 when they are transformed; for several
/// threads, with what each of them has to transform.
constexpr register_tile winograd_register_tile(tile_machine on, winograd_layout const& l, schedule const& wish,
                                               device const& machine) {
  isa const target = on.target;
  int const vectors = l.padded_channels / lanes(target);
  if (wish.winograd > 0 && is_matrix_tile(target, wish.pixels, wish.vectors))
    return {wish.pixels, wish.vectors, l.tiles % wish.pixels, vectors % wish.vectors};
  auto const fits = [&](int p, int v) {
    return l.points_first || 4L * p * v * lanes(target) * l.points() <= machine.l1_bytes * 5 / 4;
  };
  auto const whole = [&](register_tile const& t) { return product_cost(on, t, l.tiles, vectors, l.depth); };
  auto const part = [&](register_tile const& t, long tiles, int count) {
    winograd_layout own = l;
    own.tiles = int(tiles);
    own.padded_channels = count * lanes(target);
    return l.points() * product_cost(on, t, own.tiles, count, l.depth) + transform_cost(own, on);
  };
  return cheapest_shared_tile(target, l.tiles, vectors, machine.threads, fits, whole, part);
}

/// Bytes from beyond L2 if all tiles are computed in `passes` blocks: weights are read once for each, unless they stay.
/// Inputs are read by every panel, and products written and read, unless both stay beside the weights of a panel.
constexpr long winograd_traffic(winograd_layout const& l, long passes, device const& machine) {
  long const tiles = (l.tiles + passes - 1) / passes, panels = (l.padded_channels + l.panel - 1) / l.panel;
  long const inputs = 4 * tiles * l.points() * l.padded_depth, products = 4 * tiles * l.points() * l.panel;
  long const weights = 4 * l.weight_floats(), room = machine.l2_bytes * 7 / 8;
  if (l.points_first) {
    long const all = inputs + 4 * tiles * l.points() * l.padded_channels;
    return (all + weights <= room ? 1 : passes) * weights + (all <= room / 2 ? 0 : passes * 2 * all);
  }
  bool const all_stay = inputs + products + weights <= room, some_stay = inputs + products + weights / panels <= room;
  return (all_stay ? 1 : passes) * weights + (some_stay ? 0 : passes * panels * (inputs + 2 * products));
}

/// Tiles of a block; 0: all. On cores that issue in order, and so wait for all of it, those with the least traffic.
/// Elsewhere the scratch should stay in L2 beside the weights, which are read once per block. It takes
/// a quarter of L2, or as much as the weights; or most of L2, if the weights are too large to stay there anyway.
constexpr int winograd_block(kernel_key const& key, step_data const& s, device const& machine) {
  winograd_layout const l = layout_of_winograd(key, s);
  if (key.in_order) {
    long best = 1;
    for (long passes = 2; passes <= 64 && passes <= l.tiles; ++passes)
      if (winograd_traffic(l, passes, machine) < winograd_traffic(l, best, machine)) best = passes;
    return best == 1 ? 0 : int((l.tiles + best - 1) / best);
  }
  long const weights = 4 * l.weight_floats(), least = machine.l2_bytes / 4;
  long const room = 2 * weights > machine.l2_bytes ? machine.l2_bytes / 4 * 3 : weights > least ? weights : least;
  long const most = room / (4L * l.points() * (l.padded_depth + l.panel));
  if (most >= l.tiles) return 0;
  long const passes = most > 0 ? (l.tiles + most - 1) / most : l.tiles;
  return int((l.tiles + passes - 1) / passes);
}

/// Sets `key` and `s` to Winograd with output tiles of 2x2 or 4x4, key.points_first or not, and returns its quarter
/// cycles.
constexpr long become_winograd(kernel_key& key, step_data& s, structure what, schedule const& wish,
                               device const& machine) {
  tile_machine const on = machine_of(key, machine);
  key.what = what;
  s.block = 0;
  winograd_layout l = layout_of_winograd(key, s);
  key.tile = winograd_register_tile(on, l, wish, machine);
  s.block = winograd_block(key, s, machine);
  l = layout_of_winograd(key, s);
  int const vectors = l.padded_channels / lanes(key.target);
  long const products = l.points() * product_cost(on, key.tile, l.tiles, vectors, l.depth);
  if (on.in_order) {
    long const blocks = l.block > 0 ? (l.tiles + l.block - 1) / l.block : 1;
    long const traffic = winograd_traffic(l, blocks, machine) / 4;  // floats
    return products + arrival_cost(on, traffic, machine) + transform_cost(l, on) + 4000;
  }
  long const passes = 8 * l.weight_floats() > machine.l2_bytes ? (l.tiles + l.block - 1) / l.block : 1;
  long const arrival = passes * arrival_cost(on, l.weight_floats(), machine);
  return overlapped(on, products, arrival) + transform_cost(l, on) + 4000;
}

/// May products of F(4x4, 3x3) be computed point after point? On cores that issue in order, for one thread, unless a
/// schedule says what the register tile is.
constexpr bool may_take_points_first(isa target, schedule const& wish, device const& on) {
  return has_in_order_loops(target, on) && on.threads == 1 && wish.pixels == 0;
}

/// Likewise, in the order of points that takes less.
constexpr long choose_winograd(kernel_key& key, step_data& s, structure what, schedule const& wish,
                               device const& machine) {
  kernel_key first_key = key;
  step_data first = s;
  long cost = become_winograd(key, s, what, wish, machine);
  if (winograd_tile(what) == 4 && may_take_points_first(key.target, wish, machine)) {
    first_key.points_first = true;
    long const other = become_winograd(first_key, first, what, wish, machine);
    // For 55x55, 16 channels to 64, another 200 KB of arena would gain 1 % (Cortex-A55).
    if (other < cost && 4 * layout_of_winograd(first_key, first).scratch_floats() <= 8 * machine.l2_bytes) {
      key = first_key;
      s = first;
      cost = other;
    }
  }
  if (wish.winograd > 0 && wish.block > 0) s.block = wish.block;
  return cost;
}

/// Quarter cycles of transforming weights for F(tile x tile, 3x3), which a trainer does in every step. (Measured on
/// Zen 4: 300 to 530 cycles for a filter of F(4x4, 3x3), 100 to 190 for one of F(2x2, 3x3).)
constexpr long weights_cost(step_data const& s, int tile) { return 4L * s.in.c * s.out.c * (tile == 4 ? 400 : 150); }

}  // namespace ago::kernel
