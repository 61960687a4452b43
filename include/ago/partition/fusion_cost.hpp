// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates what fusing a chain of operators saves in traffic between caches, and which tiling of which size is best.
#pragma once

#include <ago/graph/graph.hpp>
#include <ago/partition/tiling.hpp>
#include <ago/partition/traffic.hpp>

namespace ago {

/// An operator of a chain, with the elementwise operators after it.
struct chain_link {
  op kind{};
  shape in{}, out{};
  window win{};
  long weight_bytes{};
};

template <int V, int E, int O>
constexpr chain_link link_of(graph<V, E, O> const& g, int main, int result) {
  node const& n = g.nodes[main];
  return {n.kind, g.source(main).out, g.nodes[result].out, n.win, weight_bytes(g, main)};
}

/// Can the chain be computed with this tiling? By channels, operators in the middle must be depthwise. Pooling is
/// computed by rows only.
constexpr bool allows(chain_link const* chain, int count, tiling how) {
  bool matrix = true, depthwise = true;
  for (int i = 0; i < count; ++i) {
    if (pools_windows(chain[i].kind) && how != tiling::rows) return false;
    matrix = matrix && is_matrix_product(chain[i].kind);
    if (i > 0 && i < count - 1) depthwise = depthwise && chain[i].kind == op::depthwise;
  }
  if (count < 2 || how == tiling::none) return false;
  if (by_channels(how)) return depthwise;
  return how == tiling::rows || matrix;
}

/// Rows of link i's result that must exist at a time when the last link computes pipeline_rows at a time. A depthwise
/// link followed by another one or by pooling keeps one more row: the first computes two rows at a time, so that none
/// is computed twice, and the second may request any number of rows.
constexpr int rows_kept(chain_link const* chain, int count, int i) {
  int rows = pipeline_rows;
  for (int k = count - 1; k > i; --k) {
    rows = (rows - 1) * chain[k].win.stride_h + chain[k].win.span_h();
    bool const asks_for_any = chain[k].kind == op::depthwise || pools_windows(chain[k].kind);
    rows += asks_for_any && chain[k - 1].kind == op::depthwise && !chain[k].win.goes_row_by_row();
  }
  return rows < chain[i].out.h ? rows : chain[i].out.h;
}

namespace detail {

/// Prices of an additional kernel start, on whole images and on a few rows: 64 and 192 cycles.
inline constexpr std::int64_t chunk_price = 1 << 17, rows_price = 3 << 17;
/// Price of loading or storing a byte of partial sums, wherever it comes from: these instructions would not be needed
/// otherwise. 3 cycles for a line (measured with AVX-512), and 12 where a core runs in order.
constexpr std::int64_t sum_price(device const& on) { return cycle_price * (on.in_order ? 48 : 12); }
/// Price of a multiply-add: a quarter of a cycle with vectors of four, or a sixteenth with longer ones.
constexpr std::int64_t product_price(device const& on) { return on.in_order ? 512 : 128; }

constexpr std::int64_t products_of(chain_link const& l) { return l.weight_bytes / 4 * l.out.pixels(); }

/// Bytes of link i's result that exist at a time.
constexpr std::int64_t tile_bytes(chain_link const* chain, int count, int i, chain_tiling const& t) {
  shape const& s = chain[i].out;
  std::int64_t const rows = t.how == tiling::channels ? s.h : rows_kept(chain, count, i);
  std::int64_t const pixels = t.how == tiling::pixels ? t.tile : rows * s.w;
  return 4 * pixels * (by_channels(t.how) ? t.tile : s.c);
}

/// How often a chain's kernels start, and the bytes that they use meanwhile.
struct working_set {
  std::int64_t images, chunks;  ///< of the batch (runs of pixels take it as one image); of the channels
  std::int64_t passes;          ///< over the weights of a chunk, per image
  std::int64_t input, result;   ///< of one image, the part that one chunk reads or writes
  std::int64_t tiles;           ///< of all values inside the chain
  std::int64_t weights;         ///< of one chunk

  constexpr std::int64_t of_pass() const { return (input + result) / passes + tiles + weights; }
  constexpr std::int64_t of_chunk() const { return input + result + tiles + weights; }
};

constexpr working_set set_of(chain_link const* chain, int count, chain_tiling const& t) {
  chain_link const &first = chain[0], &last = chain[count - 1];
  int const images = t.how == tiling::pixels ? 1 : last.out.n;
  working_set r{images, 1, 1, bytes(first.in) / images, bytes(last.out) / images, 0, 0};
  if (by_channels(t.how)) r.chunks = pieces(first.out.c, t.tile);
  if (t.how == tiling::pixels) r.passes = pieces(last.out.pixels(), t.tile);
  else if (t.how != tiling::channels) r.passes = pieces(last.out.h, pipeline_rows);
  if (first.kind == op::depthwise) r.input /= r.chunks;
  if (!is_matrix_product(last.kind)) r.result /= r.chunks;
  for (int i = 0; i < count; ++i) r.weights += chain[i].weight_bytes / r.chunks;
  for (int i = 0; i + 1 < count; ++i) r.tiles += tile_bytes(chain, count, i, t);
  return r;
}

/// Price of the values inside a chain when every link is computed alone. Each value is written, and read when, on
/// average, half of the next one has also been written; matrix products read it more than once if it does not fit L2.
constexpr std::int64_t unfused_traffic(chain_link const* chain, int count, device const& on) {
  std::int64_t sum = 0;
  for (int i = 0; i + 1 < count; ++i) {
    chain_link const& reader = chain[i + 1];
    std::int64_t const value = bytes(chain[i].out), set = value + bytes(reader.out) / 2;
    std::int64_t const near = ramp(set, on.l1_bytes, on.l2_bytes / 4, near_price(on));
    sum += value * written_and_read(near, beyond_l2(set, on));
    if (is_matrix_product(reader.kind))
      sum += rereading({value, bytes(reader.out), reader.weight_bytes, reader.out.c}, on);
  }
  for (int i = 0; i < count; ++i)
    if (chain_link const& l = chain[i]; is_matrix_product(l.kind))
      sum += rereading_from_l2({bytes(l.in), bytes(l.out), l.weight_bytes, l.out.c}, on);
  return sum;
}

/// Price of the same values in tiles. A ring buffer's memory is used again in every pass. In whole images, the bytes
/// that pass between writing and reading a byte are the size of its tile, on average half of the next value and of both
/// links' weights, and the input, which is read for every panel of weights. Only wide chunks of whole images make runs
/// long enough to benefit from L1.
constexpr std::int64_t tiled_traffic(chain_link const* chain, int count, chain_tiling const& t, working_set const& use,
                                     device const& on) {
  bool const images = t.how == tiling::channels;
  if (images && t.tile >= 48 && use.tiles <= on.l1_bytes / 2) return 0;
  std::int64_t sum = 0;
  for (int i = 0; i + 1 < count; ++i) {
    chain_link const &writer = chain[i], &reader = chain[i + 1];
    std::int64_t const value = bytes(writer.out), tile = tile_bytes(chain, count, i, t);
    std::int64_t const next = i + 2 < count ? tile_bytes(chain, count, i + 1, t) : use.result;
    std::int64_t const input = writer.kind == op::depthwise ? 0 : image_bytes(writer.in);
    std::int64_t const weights = (writer.weight_bytes + reader.weight_bytes) / use.chunks;
    std::int64_t const between = images ? input + tile + (next + weights) / 2 : use.of_pass();
    sum += value * written_and_read(near_price(on), beyond_l2_in_turns(between, on));
    if (!is_matrix_product(reader.kind)) continue;
    std::int64_t const tiles = pieces(value, tile), result = bytes(reader.out) * use.chunks / tiles;
    product const of_tile{tile, result, reader.weight_bytes / use.chunks, reader.out.c};
    sum += tiles * (rereading(of_tile, on) + rereading_from_l2(of_tile, on));
  }
  return sum;
}

/// Price of reading the input of every pass again for further panels of weights, if L1 or L2 does not hold it.
/// (Computed alone, a matrix product reads its input in blocks that L2 holds.)
constexpr std::int64_t input_traffic(chain_link const& first, working_set const& use, device const& on) {
  if (!is_matrix_product(first.kind)) return 0;
  product const of_pass{use.input / use.passes, bytes(first.out) / use.images / use.passes / use.chunks,
                        first.weight_bytes / use.chunks, int(first.out.c / use.chunks)};
  return use.images * use.passes * use.chunks * (rereading(of_pass, on) + rereading_from_l2(of_pass, on));
}

/// Price of reading the weights again for every pass. From L2 they cost half, since large weights are read from L2 for
/// each register tile in any case.
constexpr std::int64_t weight_traffic(working_set const& use, device const& on) {
  std::int64_t const again = use.images * use.passes - 1;
  return again * use.chunks * use.weights * (near_price(on) / 2 + beyond_l2_in_turns(use.of_pass(), on));
}

/// Price of further chunks of channels: reading the part of the input that L2 has evicted, and loading and storing the
/// partial sums.
constexpr std::int64_t chunk_traffic(chain_link const* chain, int count, working_set const& use, device const& on) {
  std::int64_t const input = chain[0].kind == op::depthwise ? 0 : use.input;
  std::int64_t const sums = is_matrix_product(chain[count - 1].kind) ? use.result : 0;
  std::int64_t const far = beyond_l2_in_turns(use.of_chunk(), on);
  std::int64_t const near = ramp(sums + use.tiles, on.l1_bytes, on.l2_bytes / 4, near_price(on));
  return use.images * (use.chunks - 1) * (input * far + 2 * sums * (near + sum_price(on) + far));
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

}  // namespace detail

/// A tiling, and the price of the traffic that it saves; negative if it costs more.
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
  std::int64_t sum = 0, most = detail::largest_share(extent, granule, divides ? on.threads : 1);
  for (int i = count - 1; i >= 0; --i) {
    chain_link const& l = chain[i];
    std::int64_t const all = rows ? l.out.h : extent;
    if (most > all) most = all;
    sum += detail::products_of(l) * most / all;
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
  std::int64_t const in = detail::bytes(first.in), out = detail::bytes(last.out);
  std::int64_t const exchanged =
      detail::cycle_price * on.line_from_core * ((on.threads - 1) * in + 2 * out - out / on.threads);
  if (!is_matrix_product(first.kind)) return exchanged;
  constexpr int tile = 14;  // pixels of a large register tile
  std::int64_t const pixels = first.out.pixels(), share = detail::largest_share(pixels, tile, on.threads);
  std::int64_t const uneven = detail::products_of(first) * (on.threads * share - pixels) / pixels;
  std::int64_t const by_pixels =
      detail::product_price(on) * uneven + (on.threads - 1) * detail::far_price(on) * first.weight_bytes;
  return exchanged > by_pixels ? exchanged - by_pixels : 0;
}

/// Price of what several threads do not share of a chain's multiply-adds, and of what they exchange, as time of all of
/// them, minus that of the barriers between its operators.
constexpr std::int64_t unshared_price(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  std::int64_t products = 0;
  for (int i = 0; i < count; ++i) products += detail::products_of(chain[i]);
  std::int64_t const more = on.threads * most_products(chain, count, t, on) - products;
  std::int64_t const barrier = 64 * detail::cycle_price * on.barrier;
  return detail::product_price(on) * more + exchange_price(chain, count, t, on) - on.threads * (count - 1) * barrier;
}

/// The price that `t` saves. It is 0 if rows are too short, or chunks too narrow, for whole register tiles, or if the
/// first operator is faster alone.
constexpr std::int64_t saved_by(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  bool const rows = t.how == tiling::rows || t.how == tiling::channels_rows;
  if (rows && chain[count - 1].out.w < 7) return 0;
  if (by_channels(t.how) && t.tile < (rows ? 32 : 48)) return 0;
  if (better_alone(chain[0])) return 0;
  std::int64_t const unshared = on.threads == 1 ? 0 : unshared_price(chain, count, t, on);
  detail::working_set const use = detail::set_of(chain, count, t);
  return detail::unfused_traffic(chain, count, on) - detail::tiled_traffic(chain, count, t, use, on) -
         detail::input_traffic(chain[0], use, on) - detail::weight_traffic(use, on) -
         detail::chunk_traffic(chain, count, use, on) - detail::starts(count, t.how, use) -
         detail::narrow_tiles(chain[0], t, on) - unshared;
}

/// The best tile size for `how`; none if every chunk would hold all channels. Chunks are multiples of 16 channels,
/// whole vectors on every machine. 64 suit most register tiles (measured: more gain nothing); wider chunks make fewer
/// partial sums, and increase the size of a ring buffer of rows. Runs of pixels are multiples of common register tiles.
constexpr tiling_choice best_tile(chain_link const* chain, int count, tiling how, device const& on) {
  constexpr int chunks[] = {64, 48, 96, 192, 32, 16}, runs[] = {336, 168, 84, 56, 28};
  if (how == tiling::rows) return {{how, 0}, saved_by(chain, count, {how, 0}, on)};
  bool const wide = how == tiling::channels_rows || is_matrix_product(chain[count - 1].kind);
  tiling_choice best{};
  for (int k = 0; k < (by_channels(how) ? 6 : 5); ++k) {
    int const tile = by_channels(how) ? chunks[k] : runs[k];
    if (by_channels(how) && (tile >= chain[0].out.c || (tile > 64 && !wide))) continue;
    std::int64_t const saved = saved_by(chain, count, {how, tile}, on);
    if (best.best.how == tiling::none || saved > best.saved) best = {{how, tile}, saved};
  }
  return best;
}

/// The best tiling of a chain; `saved` may be negative. On a tie, rows win.
constexpr tiling_choice best_tiling(chain_link const* chain, int count, device const& on) {
  constexpr tiling all[] = {tiling::pixels, tiling::rows, tiling::channels, tiling::channels_rows};
  tiling_choice best{};
  for (tiling const how : all) {
    if (!allows(chain, count, how) || (how == tiling::rows && best.best.how == tiling::pixels)) continue;
    tiling_choice const c = best_tile(chain, count, how, on);
    if (c.best.how != tiling::none && (best.best.how == tiling::none || c.saved > best.saved)) best = c;
  }
  return best;
}

}  // namespace ago
