// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytic default schedule of depthwise convolutions: register tile and cache tile.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>

namespace ago::kernel {

/// Should the window be known at compile time? The others, which are dilated or large or have long strides, share one
/// kernel.
constexpr bool has_depthwise_tile(window const& w) {
  return w.dilation_h == 1 && w.dilation_w == 1 && w.kernel_h <= 7 && w.kernel_w <= 7 && w.stride_h <= 2 &&
         w.stride_w <= 2;
}

/// Registers of a tile: accumulators, the rows of weights in use at a time, and one input, or four if loops are
/// scheduled by hand.
constexpr int depthwise_registers(isa target, window const& w, int columns, int rows) {
  int const weight_rows = (rows - 1) * w.stride_h + 1, inputs = is_scheduled_by_hand(target) ? 4 : 1;
  return rows * columns + (weight_rows < w.kernel_h ? weight_rows : w.kernel_h) * w.kernel_w + inputs;
}

/// The number of columns of a tile, at most `most`, with the least work for a row of `width` outputs, where remaining
/// columns are computed one by one. Work is counted in multiply-adds; every tile costs about 30 more (measured).
constexpr int depthwise_columns(int width, int most, int taps) {
  int best = 1;
  long least = -1;
  for (int columns = most < width ? most : width; columns >= 1; --columns) {
    long const work = long(width / columns) * (columns * taps + 30) + long(width % columns) * (taps + 30);
    if (least >= 0 && work >= least) continue;
    least = work;
    best = columns;
  }
  return best;
}

/// Vectors of channels per pass: as many as keep the input rows of a tile in 32 KB of L1. All of them if the images do
/// not fit L2 anyway, or if pixels are a multiple of 2 KB apart and compete for few cache sets (measured: the better
/// choice gains 10 to 40 %).
constexpr int depthwise_block(kernel_key const& key, step_data const& s) {
  constexpr long l1_bytes = 32 << 10, l2_bytes = 3 << 19;
  long const image = long(s.in.h) * s.in.w * s.in.c + long(s.out.h) * s.out.w * s.out.c;
  if (image * 4 > l2_bytes || s.source.pixel_stride % 512 == 0) return 0;
  long const rows = long(key.tile.vectors - 1) * s.win.stride_h + s.win.kernel_h;
  long const fitting = l1_bytes / (rows * s.in.w * 4 * lanes(key.target));
  long const lines = 32 / lanes(key.target);  // two cache lines
  return int(fitting > lines ? fitting : lines);
}

constexpr int clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

/// Sets tile, window and block of a depthwise step. A `wish` overrides the analytic default within the limits of the
/// kernel: 1 ... 12 columns, 1 ... 8 rows (1 if the window is not known at compile time), any number of vectors.
constexpr void choose_depthwise(kernel_key& key, step_data& s, schedule const& wish) {
  window const& w = s.win;
  bool const known = has_depthwise_tile(w), many = vector_registers(key.target) >= 32;
  key.kernel_h = known ? w.kernel_h : 0;
  key.kernel_w = known ? w.kernel_w : 0;
  key.stride_h = known ? w.stride_h : 0;
  key.stride_w = known ? w.stride_w : 0;
  int rows = 1, columns = many ? 8 : 6;
  if (known) {
    auto const fits = [&](int across, int down) {
      return depthwise_registers(key.target, w, across, down) < vector_registers(key.target);
    };
    rows = many && s.out.h > 1 && fits(7, 2) ? 2 : 1;
    columns = depthwise_columns(s.out.w, 7, rows * w.kernel_h * w.kernel_w);
    // One tile for the whole image reads every input once. (Measured on Zen 5, 960 channels: 0.8 times the time of
    // 4x2.)
    if (s.out.h == 4 && columns == 4 && w.stride_h == 1 && !is_scheduled_by_hand(key.target) && fits(4, 4)) rows = 4;
  }
  if (wish.pixels > 0) columns = clamped(wish.pixels, 1, 12);
  if (wish.vectors > 0 && known) rows = clamped(wish.vectors, 1, 8);
  key.tile = {columns, rows};
  int const block = wish.block > 0 ? wish.block : depthwise_block(key, s);
  s.block = block < padded(s.out.c, key.target) / lanes(key.target) ? block : 0;
}

/// Quarter cycles of a depthwise step with a tile of `columns` x `rows`, see depthwise_columns. Tiles that
/// exceed the registers are assumed to spill.
constexpr long depthwise_cost(tile_machine on, step_data const& s, int columns, int rows) {
  isa const target = on.target;
  window const& w = s.win;
  int const taps = w.kernel_h * w.kernel_w;
  long const tiles = s.out.w / columns, single = s.out.w % columns;
  long const row_of_tiles = tiles * (long(rows) * columns * taps + 30) + single * (long(rows) * taps + 30);
  bool const spills = depthwise_registers(target, w, columns, rows) > vector_registers(target);
  long const passes = s.out.h / rows, left = s.out.h % rows;
  long const last = left * (tiles * (long(columns) * taps + 30) + single * (taps + 30));
  return (passes * row_of_tiles + last) * (spills ? 2 : 1) * on.product * s.out.n *
         (padded(s.out.c, target) / lanes(target));
}

}  // namespace ago::kernel
