// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a link before its kernel is planned: with register tiles that are usual for the device.
#pragma once

#include <ago/partition/step_reuse.hpp>

namespace ago::partition {

/// The register tile of a matrix product, and what its multiply-adds cost.
struct usual_product {
  int pixels, vectors;
  std::int64_t cost;  ///< of a step of K for a line of pixels and all channels, in 64ths of a cycle
};

/// What a usual register tile is chosen for: lines of pixels that are computed alike, in runs and in chunks of channels
/// that it must divide (0: none).
struct usual_work {
  std::int64_t line;
  int channels, run, chunk;
  std::int64_t depth;  ///< K

  bool operator==(usual_work const&) const = default;
};

/// 64ths of a cycle that a tile takes for a step of K: a simpler kernel/matrix/schedule.hpp, without its data on what a
/// kernel fetches first.
constexpr std::int64_t usual_tile_cost(std::int64_t pixels, std::int64_t vectors, usual_work const& w, bool far_weights,
                                       device const& on) {
  std::int64_t const results = pixels * vectors, products = 2 * results, lanes = on.vector_floats;
  if (on.in_order) {
    bool const far_inputs = 4 * w.depth * w.line > (16 << 10);
    std::int64_t const beside = 6 * vectors + pixels + (vectors + 1) / 2 + 8;
    std::int64_t const step = 2 * products + (beside > products ? (beside - products + 1) / 2 * 2 : 0);
    std::int64_t const waits = (far_inputs ? pixels : 0) + (far_weights ? 4 * vectors : 0);
    return 16 * (step + waits) + 16 * (160 + 24 * results) / w.depth;
  }
  std::int64_t const step = (products > 18 ? products : 18) + 2, arrival = far_weights ? 2 * vectors * lanes / 3 : 0;
  std::int64_t const wide = pixels > 2 && vectors > 5 ? 80 : 0;
  std::int64_t const finish = lanes == 4 ? 0 : 10 * pixels + 2 * vectors + results * results / 15 + wide;
  return 16 * (step > arrival ? step : arrival) + 16 * finish / w.depth;
}

/// The best of the register tiles that most products have: trying all that fit the registers would take too many steps
/// of constant evaluation.
constexpr usual_product usual_product_of(usual_work const& w, device const& on) {
  struct tile {
    int pixels, vectors;
  };
  constexpr tile narrow[] = {{7, 3}, {5, 4}, {9, 2}, {8, 2}, {3, 6}, {4, 5}};
  constexpr tile wide[] = {{8, 3}, {9, 3}, {13, 2}, {14, 2}, {6, 4}, {2, 6}, {4, 6}, {4, 5}};
  int const lanes = on.vector_floats, tiles = lanes == 4 ? 6 : 8;
  std::int64_t const vectors = pieces(w.channels, lanes);
  usual_product best{};
  for (int i = 0; i < tiles; ++i) {
    tile const& t = lanes == 4 ? narrow[i] : wide[i];
    int const p = t.pixels, v = t.vectors;
    bool const fits = p <= w.line && w.run % p == 0 && w.chunk / lanes % v == 0;
    if (!fits && (i + 1 < tiles || best.cost > 0)) continue;  // one of them in any case
    std::int64_t const lines = w.line / p, left = w.line % p, panels = vectors / v, rest = vectors % v;
    auto const panel = [&](std::int64_t of) {
      bool const far = 4 * w.depth * of * lanes > (16 << 10);
      std::int64_t const whole = lines * usual_tile_cost(p, of, w, far, on);
      return left > 0 ? whole + usual_tile_cost(left, of, w, far, on) : whole;
    };
    std::int64_t const even = panels * panel(v) + (rest > 0 ? panel(rest) : 0);
    std::int64_t const cost = even + even / 200 * ((left > 0) + (rest > 0));
    if (best.cost == 0 || cost < best.cost) best = {p, v, cost};
  }
  return best;
}

/// The products found last: a link is part of several chains, and most tilings ask for the same.
struct usual_products {
  static constexpr int slots = 64;
  usual_work work[slots]{};
  usual_product product[slots]{};

  constexpr usual_product const& of(usual_work const& w, device const& on) {
    std::int64_t const slot = (w.line + 5 * w.channels / 8 + 7 * w.depth / 8 + 11 * w.run + w.chunk / 16) % slots;
    if (product[slot].pixels == 0 || work[slot] != w) {
      work[slot] = w;
      product[slot] = usual_product_of(w, on);
    }
    return product[slot];
  }
};

/// The product of a link, alone (in tiles of no kind) or as a part of a pipeline.
constexpr usual_work work_of(chain_link const& l, chain_tiling const& in, bool is_first) {
  std::int64_t const pixels = l.out.pixels(), depth = l.weight_bytes / 4 / l.out.c;
  usual_work w{l.out.w, l.out.c, 0, 0, depth > 0 ? depth : 1};
  if (l.kind == op::conv2d) return w;
  if (in.how == tiling::none) w.line = pixels;
  if (in.how == tiling::channels) w.line = pixels / l.out.n;
  if (in.how == tiling::pixels && in.tile < pixels) w.line = w.run = in.tile;
  else if (in.how == tiling::pixels) w.line = pixels;
  if (is_first && by_channels(in.how)) w.chunk = in.tile;
  return w;
}

/// The operands of a link; its loops are those of a part of a pipeline, for a matrix product until fit_product().
constexpr part_loops operands_of(chain_link const& l) {
  using kind = part_loops::kind;
  part_loops p;
  p.parameters = l.weight_bytes + 4L * l.out.c;
  p.input = bytes(l.in);
  p.output = bytes(l.out);
  p.in = l.in;
  p.out = l.out;
  p.win = l.win;
  p.what = is_matrix_product(l.kind) ? kind::matrix
           : l.kind == op::conv2d    ? kind::convolution
           : l.kind == op::depthwise ? kind::depthwise
                                     : kind::other;
  if (p.what == kind::depthwise) p.tile = 2;
  if (p.is_matrix()) p.weights = p.parameters;
  return p;
}

/// Fits the loops of a matrix product to a tiling (of no kind: alone). Returns the price of its arithmetic. (That of
/// other operators is the same in every tiling.)
constexpr std::int64_t fit_product(part_loops& p, chain_link const& l, chain_tiling const& in, bool is_first,
                                   usual_products& known, device const& on) {
  usual_work const w = work_of(l, in, is_first);
  usual_product const& product = known.of(w, on);
  p.accumulates = !is_first && by_channels(in.how);
  p.tile = product.pixels;
  p.panels = pieces(l.out.c, product.vectors * on.vector_floats);
  if (p.what != part_loops::kind::matrix) return 0;
  std::int64_t const pixels = l.out.pixels();
  // Four pixels alone are transposed (kernel/matrix/gather_schedule.hpp), and take 1.08 cycles for a step of K of a
  // register.
  if (on.in_order && in.how == tiling::none && pixels == 4 && l.out.c >= 64)
    return quarter_price * 4 * 27 / 25 * w.depth * l.out.c;
  std::int64_t const lines = pixels / w.line * product.cost;
  return quarter_price / 16 * w.depth * (lines + pixels % w.line * product.cost / w.line);
}

/// The blocks of a link that is computed alone, with these operands and fit_product().
constexpr std::int64_t blocks_of(chain_link const& l, part_loops const& p, usual_products& known, device const& on) {
  if (p.what == part_loops::kind::depthwise) {
    if (p.input + p.output > 3 << 19) return 1;
    // Passes over the image whose rows stay in L1, see kernel/depthwise/schedule.hpp.
    std::int64_t const rows = p.win.stride_h + p.win.span_h(), channels = (32 << 10) / (4 * rows * l.in.w);
    return pieces(l.out.c, channels > 32 ? channels : 32);
  }
  if (p.panels == 1) return 1;
  usual_work const w = work_of(l, {}, true);
  usual_product const& product = known.of(w, on);
  bool const by_rows = p.what == part_loops::kind::convolution;
  std::int64_t const extent = by_rows ? l.out.h : l.out.pixels(), tile = by_rows ? 1 : p.tile;
  std::int64_t const line = 4L * l.in.c * (by_rows ? long(l.in.w) * l.win.stride_h : 1);
  long const panel = 4L * product.vectors * on.vector_floats, panel_bytes = w.depth * panel;
  std::int64_t const block = !by_rows && fits_in_blocks(on.in_order, extent * line, p.panels * panel_bytes, on)
                                 ? block_in_l1(extent, line + panel, panel_bytes, int(p.panels), int(tile), on)
                                 : block_of(extent, line, p.weights / p.panels, tile, by_rows ? 2 : 8 * tile, on);
  return block > 0 ? pieces(extent, block) : 1;
}

}  // namespace ago::partition
