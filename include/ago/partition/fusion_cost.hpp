// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates the time that fusing a chain of operators saves, and which tiling of which size is best: by the same loops
// and distances as plan/predicted_time.hpp, before anything is planned.
#pragma once

#include <ago/partition/chain_traffic.hpp>

#include <limits>

namespace ago::partition {

/// Prices of an additional kernel start, on whole images and on a few rows: 64 and 192 cycles.
inline constexpr std::int64_t chunk_price = 1 << 17, rows_price = 3 << 17;
/// Price of loading or storing a byte of partial sums, wherever it comes from: these instructions would not be needed
/// otherwise. 3 cycles for a line (measured with AVX-512), and 12 where a core runs in order.
constexpr std::int64_t sum_price(device const& on) { return cycle_price * (on.in_order ? 48 : 12); }
/// Price of a multiply-add: a quarter of a cycle with vectors of four, or a sixteenth with longer ones.
constexpr std::int64_t product_price(device const& on) { return on.in_order ? 512 : 128; }

/// Price of loading and storing the partial sums for every further chunk of channels.
constexpr std::int64_t sums(chain_link const& last, working_set const& use, device const& on) {
  if (use.chunks == 1 || !is_matrix_product(last.kind)) return 0;
  return use.images * (use.chunks - 1) * 2 * use.result * sum_price(on);
}

/// Price of register tiles of two vectors, into which the chunks of a matrix product are cut that are no multiple of
/// the better ones of three: on cores that run in order, 1.14 instead of 1.07 cycles a multiply-add of four floats.
constexpr std::int64_t narrow_tiles(chain_link const& first, chain_tiling const& t, device const& on) {
  constexpr std::int64_t of_product = 64 * cycle_price * 4 * 7 / 100 / 4;
  if (!on.in_order || !by_channels(t.how) || t.tile % 12 == 0 || !is_matrix_product(first.kind)) return 0;
  return of_product * products_of(first);
}

/// Price of starting kernels for every tile.
constexpr std::int64_t starts(int count, tiling how, working_set const& use) {
  return use.images * use.passes * use.chunks * count * (how == tiling::channels ? chunk_price : rows_price);
}

/// Price of what a pipeline computes beside its operators.
constexpr std::int64_t overhead(chain_link const* chain, int count, chain_tiling const& t, working_set const& use,
                                device const& on) {
  return starts(count, t.how, use) + sums(chain[count - 1], use, on) + narrow_tiles(chain[0], t, on);
}

/// A tiling, and the price that it saves; negative if it costs more.
struct tiling_choice {
  chain_tiling best{};
  std::int64_t saved{};
};

/// Is this operator faster alone, because Winograd, which chains cannot use, beats the direct algorithm?
constexpr bool better_alone(chain_link const& l) {
  return l.kind == op::conv2d && l.win.is_dense_square(3) && l.in.c >= 16;
}

/// Multiply-adds of the work item that has the most, if several threads compute the chain: of whole images, runs of
/// pixels, or chunks of channels that are not added up. Otherwise each takes a part of the rows, and computes the rows
/// of earlier links that these need, some of which its neighbours need too; a matrix product over whole images at the
/// start cannot be divided like this, because its register tiles fit the whole image.
constexpr std::int64_t most_products(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  chain_link const &first = chain[0], &last = chain[count - 1];
  bool const images = first.out.n >= on.threads, chunks = by_channels(t.how) && !is_matrix_product(last.kind);
  bool const rows = !images && !chunks && t.how != tiling::pixels;
  std::int64_t const extent = images ? first.out.n : chunks ? first.out.c : rows ? last.out.h : first.out.pixels();
  std::int64_t const granule = images ? 1 : rows ? pipeline_rows : t.tile;
  bool const divides = !(rows && t.how == tiling::channels && is_matrix_product(first.kind));
  std::int64_t sum = 0, most = largest_share(extent, granule, divides ? on.threads : 1);
  for (int i = count - 1; i >= 0; --i) {
    chain_link const& l = chain[i];
    std::int64_t const all = rows ? l.out.h : extent;
    if (most > all) most = all;
    sum += partition::products_of(l) * most / all;
    // Of two parts, each has an edge of the image, where a window reads padding instead of rows.
    if (rows) most = (most - 1) * l.win.stride_h + l.win.span_h() - (on.threads == 2 ? l.win.pad_top : 0);
  }
  return sum;
}

/// Price of the lines that another core has used last, if several threads divide the chain along channels: each reads
/// the whole input, writes its channels of every pixel, which are between those of the others, and the reader of the
/// result, which is divided along pixels or rows as a rule, has written little of what it reads. Less what it costs to
/// divide a matrix product at the start, computed alone, along pixels instead: all threads read its weights, and
/// register tiles do not share small images evenly.
constexpr std::int64_t exchange_price(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  chain_link const &first = chain[0], &last = chain[count - 1];
  if (!by_channels(t.how) || is_matrix_product(last.kind) || first.out.n >= on.threads) return 0;
  std::int64_t const in = bytes(first.in), out = bytes(last.out);
  std::int64_t const exchanged = cycle_price * on.line_from_core * ((on.threads - 1) * in + 2 * out - out / on.threads);
  if (!is_matrix_product(first.kind)) return exchanged;
  constexpr int tile = 14;  // pixels of a large register tile
  std::int64_t const pixels = first.out.pixels(), share = largest_share(pixels, tile, on.threads);
  std::int64_t const uneven = partition::products_of(first) * (on.threads * share - pixels) / pixels;
  std::int64_t const by_pixels = product_price(on) * uneven + (on.threads - 1) * far_price(on) * first.weight_bytes;
  return exchanged > by_pixels ? exchanged - by_pixels : 0;
}

/// Price of what several threads do not share of a chain's multiply-adds, and of what they exchange, as time of all of
/// them, minus that of the barriers between its operators.
constexpr std::int64_t unshared_price(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  std::int64_t products = 0;
  for (int i = 0; i < count; ++i) products += partition::products_of(chain[i]);
  std::int64_t const more = on.threads * most_products(chain, count, t, on) - products;
  std::int64_t const barrier = 64 * cycle_price * on.barrier;
  return product_price(on) * more + exchange_price(chain, count, t, on) - on.threads * (count - 1) * barrier;
}

/// Does a panel of weights, of three vectors, leave L1 while it multiplies a row of pixels, because it, these and the
/// rings of a pipeline do not fit? In order that costs more than fusion saves, and the prices do not know it: with 232
/// channels at 14x14 on a Cortex-A55, 17 MB from L2 instead of 3 (by the model of bench/arm).
constexpr bool row_exceeds_l1(chain_link const& first, device const& on) {
  bool const several_tiles = first.out.w > 7;
  return on.in_order && several_tiles && first.kind == op::pointwise &&
         4L * first.in.c * (12 + first.out.w) > on.l1_bytes * 2 / 3;
}

/// A price that nothing saves less than.
inline constexpr std::int64_t no_price = std::numeric_limits<std::int64_t>::min() / 4;
/// What a tiling saves that must not be taken: less than any other.
inline constexpr std::int64_t refused = no_price / 2;

/// Do depthwise windows stay in registers (kernel/window_fold.hpp), so that neither what elementwise operators before
/// them make nor what is folded after them goes through a cache? `count`: links of the chain, with the fold.
constexpr bool folds_in_registers(chain_link const* chain, int count, device const& on) {
  chain_link const& l = chain[count - 2];
  window const& w = l.win;
  bool const is_small = w.kernel_h * w.kernel_w <= 9 && w.dilation_h == 1 && w.dilation_w == 1 && w.stride_h <= 2 &&
                        w.stride_w <= 2 && w.kernel_h >= w.stride_h && w.kernel_w >= w.stride_w;
  return l.kind == op::depthwise && is_small && on.vector_floats >= 16 &&
         (count == 2 || (count == 3 && is_elementwise(chain[0].kind)));
}

/// The price that is saved because the last link of a chain reads pixels of a value, which stays in memory, right after
/// they have been computed. The links before it are computed as usual, but for products, whose register tiles fit a row
/// then. Several threads cannot share such a chain.
constexpr std::int64_t saved_by_folding(chain_link const* chain, int count, links_alone const& alone,
                                        pipeline_parts& parts, device const& on) {
  chain_link const& last = chain[count - 2];
  if (last.out.w < 7 || better_alone(chain[0]) || on.threads > 1) return refused;
  working_set const use = set_of(chain, count, {tiling::fold, 0});
  std::int64_t const value = bytes(last.out), start = use.images * use.passes * rows_price;
  std::int64_t const reading = price_of_reading(value, alone.steps[count - 2], alone.steps[count - 1], on);
  // One pass computes it and the gradient of the weights, whose factors are what both of these read.
  if (count == 2 && last.has_windows_of_channels) return 2 * reading;
  if (folds_in_registers(chain, count, on)) {
    std::int64_t const made = bytes(chain[0].out);
    return reading + (count == 2 ? 0 : 2 * price_of_reading(made, alone.steps[0], alone.steps[1], on));
  }
  std::int64_t const saved = reading - value * price_after(use.of_pass(), on);
  if (count == 2 && !is_matrix_product(last.kind)) return saved - start;
  links_alone const before(chain, alone.links, count - 1, on);
  std::int64_t const of_rows = price_of_pipeline(chain, count - 1, {tiling::rows, 0}, use, parts, before, on);
  return saved - start + before.price - of_rows - overhead(chain, count - 1, {tiling::rows, 0}, use, on);
}

/// If it is no more than `least`, any price from it to `least`, without computing what the pipeline takes.
constexpr std::int64_t saved_by(chain_link const* chain, int count, chain_tiling const& t, links_alone const& alone,
                                pipeline_parts& parts, device const& on, std::int64_t least = no_price) {
  if (t.how == tiling::fold) return saved_by_folding(chain, count, alone, parts, on);
  bool const rows = t.how == tiling::rows || t.how == tiling::channels_rows, chunks = by_channels(t.how);
  if (rows && chain[count - 1].out.w < 7) return 0;
  if (chunks && t.tile < (rows ? 32 : 48)) return 0;
  if (chunks && alone.may_end_in_pairs) return refused;
  if (better_alone(chain[0]) || (rows && row_exceeds_l1(chain[0], on))) return 0;
  std::int64_t const unshared = on.threads == 1 ? 0 : unshared_price(chain, count, t, on);
  working_set const use = set_of(chain, count, t);
  std::int64_t const beside = overhead(chain, count, t, use, on) + unshared;
  std::int64_t const most = alone.price - least_arithmetic(alone, on) - beside;
  if (most <= least) return most;
  return alone.price - price_of_pipeline(chain, count, t, use, parts, alone, on) - beside;
}

/// The best tile that saves more than `least`; otherwise any.
constexpr tiling_choice best_tile(chain_link const* chain, int count, tiling how, links_alone const& alone,
                                  pipeline_parts& parts, device const& on, std::int64_t least = no_price) {
  int const chunks[] = {on.in_order ? 48 : 64, on.in_order ? 64 : 48, 96, 192, 32, 16};
  constexpr int runs[] = {168, 84, 56, 28};
  if (how == tiling::rows || how == tiling::operand || how == tiling::fold)
    return {{how, 0}, saved_by(chain, count, {how, 0}, alone, parts, on, least)};
  bool const wide = how == tiling::channels_rows || is_matrix_product(chain[count - 1].kind);
  bool const of_channels = by_channels(how);
  tiling_choice best{};
  for (int k = 0; k < (of_channels ? 6 : 4); ++k) {
    int const tile = of_channels ? chunks[k] : runs[k];
    if (of_channels && (tile >= chain[0].out.c || (tile > 64 && !wide))) continue;
    std::int64_t const saved = saved_by(chain, count, {how, tile}, alone, parts, on, least);
    std::int64_t const more = best.saved > 0 ? alone.price / 64 : 0;
    if (best.best.how != tiling::none && saved <= best.saved + more) continue;
    best = {{how, tile}, saved};
    if (saved > least) least = saved;
  }
  return best;
}

/// The best tiling of links that have these prices alone, if it saves more than `least`; otherwise any.
constexpr tiling_choice best_tiling(chain_link const* chain, link_alone const* links, int count, usual_products& known,
                                    device const& on, std::int64_t least) {
  constexpr tiling all[] = {tiling::pixels,        tiling::rows,    tiling::channels,
                            tiling::channels_rows, tiling::operand, tiling::fold};
  links_alone const alone(chain, links, count, on);
  pipeline_parts parts(links, count, known);
  tiling_choice best{};
  for (tiling const how : all) {
    if (!allows(chain, count, how) || (how == tiling::rows && best.best.how == tiling::pixels)) continue;
    tiling_choice const c = best_tile(chain, count, how, alone, parts, on, least);
    if (c.best.how == tiling::none) continue;
    if (best.best.how == tiling::none || c.saved > best.saved) best = c;
    if (c.saved > least) least = c.saved;
  }
  return best;
}

/// The links of a chain, each computed alone.
struct chain_alone {
  link_alone links[max_parts]{};

  constexpr chain_alone(chain_link const* chain, int count, usual_products& known, device const& on) {
    for (int i = 0; i < count; ++i) links[i] = link_alone(chain[i], known, on);
  }
};

/// The price that `t` saves. It is 0 if rows are too short, or chunks too narrow, for whole register tiles, or if the
/// first operator is faster alone.
constexpr std::int64_t saved_by(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  usual_products known;
  chain_alone const each(chain, count, known, on);
  pipeline_parts parts(each.links, count, known);
  return saved_by(chain, count, t, {chain, each.links, count, on}, parts, on);
}

/// The best tile size for `how`; none if every chunk would hold all channels. Chunks are multiples of 16 channels,
/// whole vectors on every machine. 64 suit most register tiles (measured: more gain nothing); wider chunks make fewer
/// partial sums, and increase the size of a ring buffer of rows. Runs of pixels are multiples of common register tiles.
constexpr tiling_choice best_tile(chain_link const* chain, int count, tiling how, device const& on) {
  usual_products known;
  chain_alone const each(chain, count, known, on);
  pipeline_parts parts(each.links, count, known);
  return best_tile(chain, count, how, {chain, each.links, count, on}, parts, on);
}

/// The best tiling of a chain; `saved` may be negative. On a tie, rows win. `known`: products of chains before it.
constexpr tiling_choice best_tiling(chain_link const* chain, int count, usual_products& known, device const& on) {
  return best_tiling(chain, chain_alone(chain, count, known, on).links, count, known, on, no_price);
}
constexpr tiling_choice best_tiling(chain_link const* chain, int count, device const& on) {
  usual_products known;
  return best_tiling(chain, count, known, on);
}

}  // namespace ago::partition
