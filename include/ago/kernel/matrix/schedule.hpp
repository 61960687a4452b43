// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytic default schedule of matrix products (pointwise, linear, convolution): register tile and cache block.
#pragma once

#include <ago/kernel/matrix/layout.hpp>
#include <ago/partition/pairing.hpp>
#include <ago/partition/traffic.hpp>
#include <ago/plan/schedule.hpp>
#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Is the register tile on the menu? `pixels` x `vectors` accumulators, one row of weights, and the input being
/// multiplied must fit the registers, without those that a product needs. With lane multiplies, accumulators, an input
/// of each pixel and two weights must fit, or four weights if few pixels are multiplied until the next is loaded; two
/// registers are left for the constants of the epilogue.
constexpr bool is_matrix_tile(isa target, int pixels, int vectors) {
  if (pixels < 1 || vectors < 1) return false;
  ir::isa_facts const& facts = ir::isa_table[int(target)];
  int const accumulators = pixels * vectors;
  if (facts.lane_fma) return accumulators + pixels + (pixels < 5 ? 4 : 2) + 2 <= facts.registers && vectors <= 16;
  return accumulators + vectors + 1 + facts.for_product <= facts.registers;
}

/// What decides the cost of a register tile. It has facts of the instruction set at hand: compilers evaluate the costs
/// of thousands of tiles.
struct tile_machine {
  isa target;
  int lanes;
  bool lane_fma, broadcasts_apart;
  bool in_order = false;  ///< see device::in_order
  int product = 2;        ///< quarter cycles of a multiply-add of a register: two units, or one
  constexpr tile_machine(isa t, bool is_in_order = false)
      : target(t), lanes(ir::lanes(t)), lane_fma(has_lane_fma(t)), broadcasts_apart(ir::broadcasts_apart(t)),
        in_order(is_in_order && lane_fma) {}
  constexpr tile_machine(isa t, bool is_in_order, device const& on) : tile_machine(t, is_in_order) {
    if (on.multiply_adds <= lanes) product = 4;
  }
};
constexpr tile_machine machine_of(kernel_key const& key, device const& on) { return {key.target, key.in_order, on}; }

/// Should a kernel that multiplies have the loops for cores that issue in order?
constexpr bool has_in_order_loops(isa target, device const& on) { return on.in_order && has_lane_fma(target); }

/// Does the loop of a tile load halves? If the tile is large enough for the loop's arithmetic beside its multiply-adds.
/// Tiles of one pixel have another loop, whose code is long.
constexpr bool loads_halves(int pixels, int vectors) { return pixels == 1 ? vectors <= 12 : pixels * vectors >= 6; }

/// Steps of K in an iteration of a loop that loads halves: four if what issues beside the multiply-adds of two has no
/// room there (three instructions for each weight, inputs, prefetches, seven of the loop's own and its branch).
constexpr int half_loop_steps(int pixels, int vectors) {
  return pixels == 1 || 6 * vectors + pixels + (vectors + 1) / 2 + 8 > 2 * pixels * vectors ? 4 : 2;
}

/// Quarter cycles of a tile for one step of K if its loop loads halves (kernel/half_loads.hpp): multiply-adds of two
/// steps, and what does not fit beside them, two instructions a cycle. Iterations of four steps do better, but are not
/// to attract tiles of many pixels: with 14x1 instead of 7x3, SqueezeNet at 224 took 1.11 times as long by the model of
/// bench/arm. Tiles that are too small wait for whole loads.
constexpr long half_tile_cost(int pixels, int vectors) {
  int const products = pixels * vectors;
  if (pixels == 1 && loads_halves(pixels, vectors)) return 8L * vectors + 8;
  if (!loads_halves(pixels, vectors)) return 4L * products + 8L * vectors + 2L * pixels;
  int const beside = 6 * vectors + pixels + (vectors + 1) / 2 + 8, left = beside - 2 * products;
  return 2L * (2L * products + (left > 0 ? (left + 1) / 2 : 0));
}

/// Quarter cycles of a tile for one step of K, on a core with as many load as multiply-add ports and a multiply-add
/// latency of four cycles, which no schedule quite reaches; two more for the code around the inner loop. With lane
/// multiplies a load counts twice as much, as on Arm's small cores without halves.
constexpr long tile_cost(tile_machine const& on, int pixels, int vectors) {
  if (pixels == 0 || vectors == 0) return 0;
  if (on.in_order) return half_tile_cost(pixels, vectors);
  // Weights of one pixel are loaded two at a time, but all of them again for the next pixel. An accumulation can start
  // two cycles after the one before it.
  if (on.lane_fma && pixels == 1) return (vectors > 4 ? 5L * vectors / 2 : 10) + 2;
  long const products = long(on.product) * pixels * vectors;
  long const loads = on.lane_fma ? 4L * vectors + pixels : 2L * pixels + on.product * vectors;
  long const most = products > loads ? products : loads;
  // With one vector every product needs a broadcast, with two every other one (measured with AVX2: 5 to 25 %, and 3 %).
  int const broadcasts = !on.broadcasts_apart ? 0 : vectors == 1 ? 3 : vectors == 2 ? 1 : 0;
  return (most > 18 ? most : 18) + 2 + broadcasts;
}

/// Quarter cycles to load a row of weights from beyond L2, at 16 bytes a cycle (between what was measured: 10 on a
/// core of a Xeon, 28 on Zen 5), and for the code around the inner loop.
constexpr long stream_cost(tile_machine const& on, int vectors) { return long(vectors) * on.lanes + 2; }

/// Quarter cycles to finish and store a tile's results while the next tile has hardly begun: the more results there
/// are, the less of the next tile an out-of-order core can see. (A fit to Zen 5, K of 16 to 64: 2x6 6 cycles, 5x4 11 to
/// 15, 7x3 17 to 24, 6x4 20 to 30, 14x2 40 to 50, but 3x6 22 and 4x6 52. On a Xeon the tuner also chose small tiles
/// where K is small.)
constexpr long finish_cost(tile_machine const& on, int pixels, int vectors) {
  long const results = long(pixels) * vectors;
  if (on.in_order) return 160 + 24 * results;  // by the model of bench/arm, with ReLU6
  int const wide = pixels > 2 && vectors > 5 ? 80 : 0;
  return on.lane_fma ? 0 : 10 * pixels + 2 * vectors + results * results / 15 + wide;
}

/// Quarter cycles to load a row of weights from L2, at 24 bytes a cycle (measured on Zen 5: 26 to 40).
constexpr long l2_cost(tile_machine const& on, int vectors) { return 2L * vectors * on.lanes / 3; }

/// An unspecified K for matrix_cost(), which then assumes that panels stay in L1, and ignores the cost of finishing
/// tiles.
inline constexpr int any_depth = 0;

/// The cost of one step of K for a whole line of pixels and all channels, in 1/200 of the unit of tile_cost(), with
/// half a per cent more for each kind of remainder tile, which is more code for the same work. `cold`: the weights come
/// from beyond L2, and the first tile of each panel waits for them. The other tiles wait for L2 if a panel takes more
/// than half of L1. Cores that issue in order do nothing else meanwhile, and also wait for inputs that do not stay in
/// L1: 4 cycles for a line from L2 and 20 from beyond, as bench/arm models them. `in_l1`: blocks of pixels do, see
/// fits_in_blocks().
constexpr long matrix_cost(tile_machine const& on, register_tile const& t, long pixels, int vectors, int depth,
                           bool cold, bool in_l1 = false) {
  long const tiles = pixels / t.pixels, panels = vectors / t.vectors;
  bool const inputs_far = on.in_order && !in_l1 && 4L * depth * pixels > device{}.l1_bytes / 2;
  bool const waits = on.lane_fma, big = waits && !on.in_order;
  auto const panel = [&](int v) {
    // A panel also leaves L1 if it and the inputs of a tile do not fit it together.
    bool const crowded = waits && 4L * depth * (v * on.lanes + t.pixels) > device{}.l1_bytes * (big ? 24 : 15) / 16;
    bool const weights_far = crowded || (!big && 4L * depth * v * on.lanes > device{}.l1_bytes / 2);
    long const near = !weights_far ? 0 : on.in_order ? 4L * v : big ? v : l2_cost(on, v);
    long const far = !cold ? (big ? near : 0) : on.in_order ? 20L * v : big ? 15L * v : stream_cost(on, v);
    long sum = 0, arrival = far;  // the first tile waits for `arrival`, the others for L2
    for (int k = 0; k < 2; ++k) {
      int const p = k == 0 ? t.pixels : t.pixels_left;
      long const count = k == 0 ? tiles : p > 0;
      if (count == 0) continue;
      long const step = tile_cost(on, p, v), input = inputs_far ? p : 0;
      long const first = waits ? step + arrival + input : step > arrival ? step : arrival;
      long const others = waits ? step + near + input : step > near ? step : near;
      long const finish = depth > 0 ? 200 * finish_cost(on, p, v) / depth : 0;
      sum += 200 * (first + (count - 1) * others) + count * finish;
      arrival = near;
    }
    return sum;
  };
  long const whole = panels * panel(t.vectors) + (t.vectors_left > 0 ? panel(t.vectors_left) : 0);
  return whole + whole / 200 * ((t.pixels_left > 0) + (t.vectors_left > 0));
}

/// What loops that load halves, those for cores that issue in order, cost a big core, in the unit of matrix_cost(): a
/// weight that is joined occupies a pipe that multiplies. Little cores join beside multiply-adds, but programs for the
/// default device run on big ones as well, where tiles that take a little core as long differ by 5 % (5x4 and 7x3).
/// With a small K, finishing tiles takes longer.
constexpr long joining_cost(register_tile const& t, long pixels, int vectors, int depth) {
  bool const counts = depth == any_depth || depth >= 32;
  return counts ? 400 * ((pixels + t.pixels - 1) / t.pixels) * vectors : 0;
}

/// Most pixels of a tile of one vector, and of more, where each pixel needs a general register for its displacement.
constexpr int longest_tile(int vectors) { return vectors == 1 ? 16 : 14; }

/// Pixels of a line that are computed alike: for a matrix product all, for a convolution the columns that see the whole
/// window, if there are any.
constexpr long pixels_in_line(structure what, step_data const& s) {
  if (what == structure::pointwise) return s.out.pixels();
  int const first = (s.win.pad_left + s.win.stride_w - 1) / s.win.stride_w;
  int const room = s.in.w + s.win.pad_left - s.win.span_w();
  int const last = room < 0 ? 0 : room / s.win.stride_w + 1;
  int const interior = (last < s.out.w ? last : s.out.w) - first;
  return interior > 0 ? interior : s.out.w;
}

/// A cache tile that must consist of whole register tiles; 0: no constraint.
struct cache_tile {
  int pixels = 0, channels = 0;
};

/// The tile of the menu with the least `cost` among those that `fits` admits; 1x1 if there is none.
constexpr register_tile cheapest_tile(isa target, long pixels, int vectors, auto const& fits, auto const& cost) {
  auto const tile = [=](int p, int v) { return register_tile{p, v, int(pixels % p), vectors % v}; };
  register_tile best = tile(1, 1);
  long least = cost(best);
  for (int v = 1; v <= vectors && is_matrix_tile(target, 1, v); ++v) {
    int const longest = longest_tile(v);
    for (int p = 1; p <= pixels && p <= longest && is_matrix_tile(target, p, v); ++p) {
      if (!fits(p, v)) continue;
      register_tile const t = tile(p, v);
      long const c = cost(t);
      if (c >= least) continue;
      best = t;
      least = c;
    }
  }
  return best;
}

/// The cost of the work item that takes longest if `threads` share the pixels or the panels, whichever is better:
/// `cost(tile, pixels, vectors)` is what so many take with a register tile.
constexpr long longest_share(register_tile const& t, long pixels, int vectors, int threads, auto const& cost) {
  auto const of = [&](long p, int v) {
    return cost(register_tile{t.pixels, t.vectors, int(p % t.pixels), v % t.vectors}, p, v);
  };
  long const along_pixels = of(long(largest_share(pixels, t.pixels, threads)), vectors);
  long const along_channels = of(pixels, int(largest_share(vectors, t.vectors, threads)));
  return along_pixels < along_channels ? along_pixels : along_channels;
}

/// The register tile for `threads` threads: the one with which the work item that takes longest, `part(tile, pixels,
/// vectors)`, takes least; or the cheapest one for the `whole`, unless that takes at least 1/64 longer, because steps
/// with the same tiles are divided alike, and then need no barrier between them.
constexpr register_tile cheapest_shared_tile(isa target, long pixels, int vectors, int threads, auto const& fits,
                                             auto const& whole, auto const& part) {
  register_tile best = cheapest_tile(target, pixels, vectors, fits, whole);
  if (threads == 1) return best;
  long const all = whole(best);
  long least = longest_share(best, pixels, vectors, threads, part) * 63 / 64;
  // No tile does better than a share of what the cheapest one takes. So compilers, which limit what they evaluate, do
  // not evaluate the costs of most.
  for (int v = 1; v <= vectors && all < least * threads && is_matrix_tile(target, 1, v); ++v)
    for (int p = 1; p <= pixels && p <= longest_tile(v) && is_matrix_tile(target, p, v); ++p) {
      bool const too_many_pixels = largest_share(pixels, p, threads) * all >= least * pixels;
      if ((too_many_pixels && largest_share(vectors, v, threads) * all >= least * vectors) || !fits(p, v)) continue;
      register_tile const t{p, v, int(pixels % p), vectors % v};
      long const c = longest_share(t, pixels, vectors, threads, part);
      if (c >= least) continue;
      best = t;
      least = c;
    }
  return best;
}

/// A matrix product for which a register tile is chosen: lines of `pixels` pixels that are computed alike, and
/// `channels` output channels (of one group).
struct matrix_work {
  long pixels = 0;
  int channels = 0, depth = any_depth;
  cache_tile within{};  ///< the tile must divide it
  /// The output exceeds the caches, and little is computed for it. Where a register is a small part of a cache line, as
  /// on Arm, it is best written in long runs. (With AVX2 and AVX-512 the cheapest tile is up to 2.4 times as fast; in
  /// order, by the model of bench/arm, 1.2 times.)
  bool streams = false;
  bool cold = false;   ///< the weights come from beyond L2
  bool in_l1 = false;  ///< the input of a block of pixels stays in L1, see partition::fits_in_blocks()
  int threads = 1;     ///< that share it
};

/// The register tile: the wish (pixels and vectors not 0) if it is on the menu, otherwise the default.
constexpr register_tile matrix_tile(tile_machine const& on, matrix_work const& w, schedule const& wish = {}) {
  isa const target = on.target;
  int const vectors = padded(w.channels, target) / on.lanes;
  auto const tile = [=](int p, int v) { return register_tile{p, v, int(w.pixels % p), vectors % v}; };
  auto const fits = [&](int p, int v) { return w.within.pixels % p == 0 && w.within.channels % (v * on.lanes) == 0; };
  if (is_matrix_tile(target, wish.pixels, wish.vectors) && fits(wish.pixels, wish.vectors))
    return tile(wish.pixels, wish.vectors);
  if (w.streams && on.lane_fma && !on.in_order) {
    constexpr int longest = 6, least = 3;  // vectors; pixels
    int const panels = (vectors + longest - 1) / longest, v = (vectors + panels - 1) / panels;
    int const filling = (vector_registers(target) * 3 / 8 + v - 1) / v, p = filling > least ? filling : least;
    if (v > 1 && p <= w.pixels) return tile(p, v);
  }
  auto const part = [&](register_tile const& t, long pixels, int count) {
    long const cost = matrix_cost(on, t, pixels, count, w.depth, w.cold, w.in_l1);
    return on.in_order ? cost + joining_cost(t, pixels, count, w.depth) : cost;
  };
  auto const whole = [&](register_tile const& t) { return part(t, w.pixels, vectors); };
  return cheapest_shared_tile(target, w.pixels, vectors, w.threads, fits, whole, part);
}

/// May a register hold two steps of K? Not if there are partial sums.
constexpr bool can_pair(kernel_key const& key) {
  return key.what == structure::pointwise && !key.accumulates && has_pairs(key.target);
}

/// The cache block, see step_data::block: with several panels of channels, partition::block_of with at least eight
/// tiles of pixels, or two rows. (Measured with AVX-512, 3072 channels to 768: blocks of three tiles take 1.2 times as
/// long as no blocks.) `in`: the tiling of the pipeline that the step is part of. `pixel_floats`: see planned_data.
constexpr int matrix_block(kernel_key const& key, step_data const& s, schedule const& wish, device const& on = {},
                           chain_tiling const& in = {}, int pixel_floats = 0) {
  bool const by_rows = key.what == structure::convolution;
  int const depth = key.accumulates ? in.tile : s.in.c;
  // Bytes of a row or pixel.
  long const line = 4L * (by_rows ? long(s.in.w) * s.in.c * s.win.stride_h : pixel_floats > 0 ? pixel_floats : depth);
  long const images = in.how == tiling::channels ? s.out.n : 1, extent = by_rows ? s.out.h : s.out.pixels() / images;
  if (wish.block > 0) return wish.block < extent ? wish.block : 0;
  matrix_layout const layout = layout_of_matrix(key, s);
  long const panel_bytes = 4L * layout.panel * layout.steps * layout.rows();
  if (layout.padded_channels <= layout.panel) return 0;
  long const tile = by_rows ? 1 : key.tile.pixels, least = by_rows ? 2 : 8 * tile;
  int const channels = by_channels(in.how) && !key.accumulates ? in.tile : layout.padded_channels;
  int const panels = (channels + layout.panel - 1) / layout.panel;
  long const part_bytes = 4L * layout.panel * depth;  // of a panel: the K of a chunk
  if (!by_rows && partition::fits_in_blocks(key.in_order, extent * line, panels * part_bytes, on))
    return int(partition::block_in_l1(extent, line + 4L * layout.panel, part_bytes, panels, int(tile), on));
  return int(partition::block_of(extent, line, panel_bytes, tile, least, on));
}

/// The same for a part of a pipeline.
constexpr long pixels_in_line(structure what, step_data const& s, tiling how) {
  bool const rows = how == tiling::rows || how == tiling::channels_rows || how == tiling::fold;
  if (what == structure::pointwise && rows) return s.out.w;
  if (what == structure::pointwise && how == tiling::channels) return long(s.out.h) * s.out.w;
  return pixels_in_line(what, s);
}

/// Should a convolution prefetch its input? Images of few channels are read so fast that hardware prefetching is late.
/// (Measured on Zen 5 with images of 3 channels: 0.6 to 0.8 times the time; with more channels there is no gain, and
/// prefetching costs up to 3 %.)
constexpr bool pays_to_fetch(kernel_key const& key, step_data const& s) {
  return key.what == structure::convolution && s.groups == 1 && s.in.c <= 4 && !is_scheduled_by_hand(key.target);
}

/// Sets register tile and cache block of one step. `in`: the tiling of the pipeline that it is part of; the register
/// tile of a part that does not accumulate divides its chunks.
constexpr void choose_matrix(kernel_key& key, step_data& s, schedule const& wish, chain_tiling const& in = {},
                             device const& on = {}, int pixel_floats = 0) {
  bool const pipelined = in.how != tiling::none;
  int const depth = matrix_depth(s);
  // Cold from 64 KB of weights on: those of a whole network with such layers do not stay in L2. If a panel is used for
  // many lines, the first one hardly matters.
  bool const in_one_go = key.what == structure::pointwise && (!pipelined || in.how == tiling::channels);
  bool const cold = in_one_go && long(depth) * s.out.c >= 1L << 14;
  bool const streams = depth < 128 && s.out.count() > 1L << 19 && !pipelined;
  long const pixels = pixels_in_line(key.what, s, in.how);
  bool const in_pairs =
      wish.packing > 0 ? wish.packing == 2 : pays_in_pairs(key.target, depth, s.out.c, zeros_in_pairs(key, s));
  key.paired = can_pair(key) && in_pairs;
  int const channels = s.out.c / s.groups * (key.paired ? 2 : 1);
  key.fetches_input = pays_to_fetch(key, s);
  matrix_work work{.pixels = pixels, .channels = channels, .depth = depth, .streams = streams, .cold = cold};
  if (in_one_go) {
    bool const chunks = by_channels(in.how);
    long const k = chunks && key.accumulates ? in.tile : depth, n = chunks && !key.accumulates ? in.tile : channels;
    work.in_l1 = partition::fits_in_blocks(key.in_order, 4 * k * pixels, 4 * k * n, on);
  }
  if (key.what == structure::pointwise && !pipelined) work.threads = on.threads;
  if (in.how == tiling::pixels && in.tile < pixels) work.within.pixels = in.tile;
  if (by_channels(in.how) && !key.accumulates) work.within.channels = key.paired ? 2 * in.tile : in.tile;
  // As for two multiply-adds a cycle, whatever the device does: tiles for one were no faster on Zen 4 (0.97 to 1.07
  // times the time in thirteen cells).
  key.tile = matrix_tile({key.target, key.in_order}, work, wish);
  s.block = pipelined && in.how != tiling::channels ? wish.block : matrix_block(key, s, wish, on, in, pixel_floats);
}

/// Floats in a row of the window of a convolution if the loops for it are to be compiled for so many
/// (kernel/matrix/segment_order.hpp, simd::accumulate_known); otherwise 0.
constexpr int floats_in_window_row(kernel_key const& key, step_data const& s) {
  int const floats = s.win.kernel_w * s.in.c;
  bool const contiguous = s.groups == 1 && s.win.dilation_w == 1 && s.source.pixel_stride == s.in.c;
  bool const by_hand = key.what == structure::convolution && has_lane_fma(key.target);
  bool const few = key.in_order ? floats > 2 && floats <= 9 : floats > 3 && floats <= 9 && floats % 4 < 2;
  return by_hand && contiguous && few ? floats : 0;
}

/// Quarter cycles of a matrix product: register tiles over lines of pixels, in the order of the kernel.
constexpr double matrix_cycles(tile_machine const& on, kernel_key const& key, step_data const& s,
                               chain_tiling const& in) {
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

/// Should a direct convolution take registers half as long? If they leave so many fewer lanes without a channel that
/// this is faster, where two multiply-adds of them take no longer than one of whole registers. Whatever a schedule
/// says, so that a tuner compares tiles of one kind. (24 channels on Zen 4: three instead of twice two, and
/// ShuffleNet-V2 takes 0.98 to 0.99 of the time.)
constexpr bool takes_shorter_registers(kernel_key const& key, step_data const& s, chain_tiling const& in,
                                       device const& on) {
  isa const shorter = narrower(key.target);
  bool const possible = key.what == structure::convolution && s.groups == 1 && shorter != key.target;
  if (!possible || on.multiply_adds > lanes(key.target)) return false;
  auto const cycles = [&](isa target) {
    kernel_key k = key;
    k.target = target;
    step_data data = s;
    choose_matrix(k, data, {}, in, on);
    return matrix_cycles(machine_of(k, on), k, data, in);
  };
  return cycles(shorter) < cycles(key.target);
}

}  // namespace ago::kernel
