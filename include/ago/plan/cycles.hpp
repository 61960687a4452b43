// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytic model of the time that the arithmetic of a step takes on one core.
#pragma once

#include <ago/kernel/attention/layout.hpp>
#include <ago/kernel/depthwise/schedule.hpp>
#include <ago/kernel/winograd/schedule.hpp>
#include <ago/plan/portion.hpp>

namespace ago {

constexpr bool is_matrix(structure what) { return what == structure::pointwise || what == structure::convolution; }

/// Quarter cycles of a depthwise step with a tile of `columns` x `rows`, see detail::depthwise_columns. Tiles that
/// exceed the registers are assumed to spill.
constexpr long depthwise_cost(detail::tile_machine on, step_data const& s, int columns, int rows) {
  isa const target = on.target;
  window const& w = s.win;
  int const taps = w.kernel_h * w.kernel_w;
  long const tiles = s.out.w / columns, single = s.out.w % columns;
  long const row_of_tiles = tiles * (long(rows) * columns * taps + 30) + single * (long(rows) * taps + 30);
  bool const spills = detail::depthwise_registers(target, w, columns, rows) > vector_registers(target);
  long const passes = s.out.h / rows, left = s.out.h % rows;
  long const last = left * (tiles * (long(columns) * taps + 30) + single * (taps + 30));
  return (passes * row_of_tiles + last) * (spills ? 2 : 1) * on.product * s.out.n *
         (padded(s.out.c, target) / lanes(target));
}

namespace detail {

/// Quarter cycles of a matrix product: register tiles over lines of pixels, in the order of the kernel.
constexpr double matrix_cycles(tile_machine on, kernel_key const& key, step_data const& s, chain_tiling const& in) {
  bool const whole = in.how == tiling::none || (in.how == tiling::channels && key.what == structure::pointwise);
  long line = key.what == structure::im2col               ? s.out.pixels()
              : whole && key.what == structure::pointwise ? s.out.pixels()
                                                          : pixels_in_line(key.what, s, in.how);
  if (in.how == tiling::pixels && in.tile < line) line = in.tile;
  int const channels = s.out.c / s.groups * (key.paired ? 2 : 1);
  double const depth = double(matrix_depth(s)) / (key.paired ? 2 : 1);
  int const vectors = padded(channels, key.target) / lanes(key.target);
  register_tile const t{key.tile.pixels, key.tile.vectors, int(line % key.tile.pixels), vectors % key.tile.vectors};
  double const step = double(matrix_cost(on, t, line, vectors, int(depth), false)) / 200;
  double const stores = (key.paired ? 4. : 2.) * double(line) * vectors;  // pairs are added first
  return (step * depth + stores) * s.groups * double(s.out.pixels()) / double(line);
}

constexpr double winograd_cycles(tile_machine on, kernel_key const& key, step_data const& s) {
  winograd_layout l = layout_of_winograd(key, s);
  if (s.portion.last > 0) l.tiles = s.portion.last - s.portion.first;
  if (s.channels.last > 0) l.padded_channels = padded(s.channels.last - s.channels.first, key.target);
  int const vectors = l.padded_channels / lanes(key.target);
  long const products = l.points() * product_cost(on, key.tile, l.tiles, vectors, l.depth);
  return double(products + transform_cost(l, on) + 4000);
}

/// Quarter cycles of `rows` of exponentials, `vectors` registers each (measured with AVX-512).
constexpr double softmax_cycles(double rows, double vectors) { return 4 * rows * (58 + 30 * vectors); }

/// Quarter cycles of products of two values, at one or two multiply-adds a cycle: of one, or of an attention with the
/// softmax between its two.
constexpr double product_cycles(tile_machine on, kernel_key const& key, planned_data const& s) {
  attention_layout const l = layout_of_attention(key.what, s, s.other_shape, key.target);
  bool const whole = key.what == structure::attention, heads = whole || key.what == structure::attention_scores;
  double const rows = double(s.in.pixels()) * (heads ? s.groups : 1);
  double const columns = double(l.first.padded_columns()) / lanes(key.target);
  double const product = on.product * rows * columns * l.first.depth;
  return whole ? product + product + softmax_cycles(rows, columns) : product;
}

/// Quarter cycles of an index expression: of a matrix product at one or two multiply-adds a cycle, of other loops at an
/// operation a cycle.
constexpr double expression_cycles(tile_machine on, kernel_key const& key, planned_data const& s) {
  expression::index_expression const& e = *key.described;
  int const taken = s.portion.last - s.portion.first;
  double const share = s.portion.last > 0 ? taken / double(indices_of(key, s)) : 1;
  double const work = key.what == structure::contraction
                          ? on.product * double(expression::multiply_adds(e))
                          : 4 * double(expression::loops_of(e).points()) * e.body.node_count;
  return share * (4 * double(s.out.count()) + work) / lanes(key.target);
}

/// Quarter cycles of all other kernels: loads, stores and arithmetic, at a cycle for each vector of input and output,
/// or of input and window, and 7.5 for an exponential of a vector (device::function_operations). Of a layer norm, 4
/// cycles, and 48 more for each pixel (measured with AVX-512).
constexpr double other_cycles(tile_machine on, kernel_key const& key, planned_data const& s) {
  double const in = double(s.in.count()) / lanes(key.target), out = double(s.out.count()) / lanes(key.target);
  if (is_product(key.what)) return 4 * (in + out) + product_cycles(on, key, s);
  if (key.described) return expression_cycles(on, key, s);
  switch (key.what) {
    case structure::max_pool:
    case structure::avg_pool: return 4 * out * s.win.kernel_h * s.win.kernel_w;
    case structure::layer_norm: return 17 * out + 190 * double(s.out.pixels());
    case structure::softmax: return softmax_cycles(double(s.out.pixels()), double(s.out.c) / lanes(key.target));
    default: {
      int functions = 0;
      for (int i = 0; i < key.after.count(); ++i) functions += is_lengthy(key.after.stages[i].kind);
      return 4 * (in + out) + (key.what == structure::elementwise ? 30 * functions * out : 0);
    }
  }
}

/// Quarter cycles of the arithmetic of one part; `in`: the tiling of the pipeline that it is part of.
constexpr double cycles_of(kernel_key const& key, planned_data const& s, chain_tiling const& in, device const& core) {
  tile_machine const on = machine_of(key, core);
  if (is_matrix(key.what)) return matrix_cycles(on, key, s, in);
  if (key.what == structure::im2col) return matrix_cycles(on, key, s, in) + 8 * double(s.in.count());
  if (winograd_tile(key.what) > 0) return winograd_cycles(on, key, s);
  if (key.what == structure::depthwise) return double(depthwise_cost(on, s, key.tile.pixels, key.tile.vectors));
  return other_cycles(on, key, s);
}

}  // namespace detail

}  // namespace ago
