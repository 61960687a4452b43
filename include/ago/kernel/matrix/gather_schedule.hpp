// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a matrix product first copies blocks of its input, on cores that issue in order.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>
#include <ago/plan/channel_runs.hpp>

namespace ago::kernel {

/// A product that copies `portion` input channels of `block` pixels at a time into scratch (kernel_key::gathers); none
/// if `block` is 0.
struct gathering {
  register_tile tile{};
  int block = 0, portion = 0;
  bool transposed = false;  ///< a channel of four pixels after another, see kernel_key::transposed
};

/// A matrix product of `segments` scattered segments of K, or of a contiguous input.
struct segmented_product {
  long pixels;
  int vectors, depth, segments;
};

/// Quarter cycles of the product with register tile `t`, in blocks of `block` pixels and portions of K, gathered or
/// not: the register tiles, what a segment costs each of them, copying, and lines from L2 and from beyond. By the model
/// of bench/arm, a further segment costs a tile 120 cycles, and copying a pixel 20 for each segment and 3 for each
/// register.
constexpr long gathering_cost(tile_machine on, segmented_product const& w, register_tile const& t, long block,
                              int portion, bool gathers, device const& machine) {
  int const width = lanes(on.target);
  long const blocks = (w.pixels + block - 1) / block, portions = (w.depth + portion - 1) / portion;
  long const panels = (w.vectors + t.vectors - 1) / t.vectors;
  auto const panel = [&](int v) {
    auto const one = [&](int p) {
      long const segments = gathers ? 0 : 480L * (w.segments - 1);
      return p == 0 ? 0 : w.depth * tile_cost(on, p, v) + portions * finish_cost(on, p, v) + segments;
    };
    return v == 0 ? 0 : w.pixels / t.pixels * one(t.pixels) + one(int(w.pixels % t.pixels));
  };
  long const copies = gathers ? w.pixels * (80L * w.segments + 3L * w.depth) : 0;

  constexpr long line = 16;  // floats
  long const l1 = machine.l1_bytes / 4, l2 = machine.l2_bytes / 4;
  long const panel_floats = long(portion) * t.vectors * width, block_floats = block * portion;
  long const inputs = w.pixels * w.depth / line, weights = long(w.vectors) * width * w.depth / line;
  long const results = w.pixels * w.vectors * width / line;
  bool const inputs_stay = block_floats + panel_floats + block * t.vectors * width <= l1 * 7 / 8;
  bool const panel_stays = panel_floats + 2L * t.pixels * portion <= l1 * 15 / 16;
  long const near =
      (inputs_stay ? 1 : panels) * inputs + (panel_stays ? blocks : w.pixels / t.pixels) * weights + portions * results;
  bool const inputs_near = inputs_stay || block_floats + 2 * panel_floats <= l2 * 7 / 8;
  bool const weights_near = weights * line + block_floats <= l2 * 7 / 8;
  bool const sums_near = block * w.vectors * width <= l2 / 2;
  long const far = (inputs_near ? 1 : panels) * inputs + (weights_near ? 1 : blocks) * weights +
                   (sums_near ? 1 : portions) * results;
  return w.vectors / t.vectors * panel(t.vectors) + panel(w.vectors % t.vectors) + copies +
         near * machine.line_from_l2 + far * (machine.line_from_memory - machine.line_from_l2);
}

/// The vectors of a tile of four pixels whose inputs are transposed: those for which a step of K takes least, with two
/// cycles for what does not fit beside the multiply-adds of a tile.
constexpr int vectors_of_transposed(int vectors) {
  int best = 1, least = 0;
  for (int v = 1; v <= 5; ++v) {
    int const cost = 4 * vectors + 2 * ((vectors + v - 1) / v) + (vectors % v > 0 ? 4 : 0);
    if (v > 1 && cost > least) continue;
    best = v;
    least = cost;
  }
  return best;
}

/// Does it pay to copy the input of a matrix product of `in`, in `segments` segments, into one of `channels` channels?
/// Copies are read in order, whatever the input's segments and strides, stay in L1 while all panels of weights read
/// them, or let portions of K of more pixels stay in L2, so that the weights come from beyond it fewer times.
constexpr gathering pays_to_gather(isa target, shape const& in, int channels, int segments, device const& on) {
  gathering best;
  if (!has_in_order_loops(target, on)) return best;
  if (in.pixels() == 4 && channels >= 64) {  // else copying costs more than it saves
    int const vectors = padded(channels, target) / lanes(target), v = vectors_of_transposed(vectors);
    return {{4, v, 0, vectors % v}, 4, in.c, true};
  }
  if (in.pixels() < 16) return best;
  tile_machine const machine{target, true};
  int const depth = in.c;
  // Others gain too little to be compared, which takes compilers long.
  bool const large = depth >= 192 && channels >= 192 && 4L * in.count() > on.l2_bytes / 2;
  if (segments < 3 && !large) return best;
  segmented_product const work{in.pixels(), padded(channels, target) / lanes(target), depth, segments};
  bool const cold = long(depth) * channels >= 1L << 14;
  long least = -1;
  for (int portions = 1; portions <= 4; ++portions) {
    int const portion = portions == 1 ? depth : (depth + portions - 1) / portions / 16 * 16 + 16;
    if (portions > 1 && (portion < 64 || portion >= depth)) break;
    register_tile const t =
        matrix_tile(machine, {.pixels = in.pixels(), .channels = channels, .depth = portion, .cold = cold});
    auto const offer = [&](long most, bool gathers) {
      long const blocks = most > 0 ? (in.pixels() + most - 1) / most : in.pixels();
      long const even = (in.pixels() + blocks - 1) / blocks, block = (even + t.pixels - 1) / t.pixels * t.pixels;
      long const cost = gathering_cost(machine, work, t, block, portion, gathers, on);
      if (least >= 0 && cost >= least - least / 64) return;
      least = cost;
      best = gathers ? gathering{t, int(block), portion} : gathering{};
    };
    long const panel = 4L * portion * t.vectors * lanes(target);
    long const in_l1 = (on.l1_bytes * 3 / 4 - panel) / (4 * portion);
    long const in_l2 = (on.l2_bytes * 7 / 8 - 2 * panel) / (4 * portion);
    if (portions == 1) {
      offer(in.pixels(), false);
      offer(in_l2, false);
    }
    if (in_l1 >= t.pixels) offer(in_l1, true);
    if (in_l2 >= t.pixels) offer(in_l2, true);
  }
  return best;
}

}  // namespace ago::kernel
