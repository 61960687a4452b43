// What fusing a chain of operators saves, by the bytes that travel between caches: which tiling, of which size.
#pragma once

#include <ago/graph/graph.hpp>
#include <ago/partition/device.hpp>
#include <ago/partition/tiling.hpp>

#include <cstdint>

namespace ago {

/// An operator of a chain, with the elementwise operators behind it.
struct chain_link {
  op kind{};
  shape in{}, out{};
  window win{};
  long weight_bytes{};
};

template <int V, int E, int O>
constexpr chain_link link_of(graph<V, E, O> const& g, int main, int result) {
  node const& n = g.nodes[main];
  shape const& in = g.source(main).out;
  int const depth = n.kind == op::depthwise ? 1 : in.c / n.groups;
  bool const weighs = has_weights(n.kind);
  return {n.kind, in, g.nodes[result].out, n.win, weighs * 4L * n.out.c * n.win.kernel_h * n.win.kernel_w * depth};
}

/// Can the chain be computed so? By channels, operators in the middle must be depthwise. Pooling is computed by rows.
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

/// Rows of link i's result that must exist at a time, when the last link computes pipeline_rows at a time. One more
/// between two depthwise ones, or depthwise and pooling: the first computes rows by twos, so that none is computed
/// twice, the second asks for any number of them.
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

/// Prices of moving a byte: from L2, and from beyond it (measured where a core has 1 to 2 MB of L2).
inline constexpr std::int64_t near_price = 32, far_price = 128;
/// Of starting a kernel once more, on whole images and on a few rows (measured: 0.01 and 0.04 us).
inline constexpr std::int64_t chunk_price = 1 << 17, rows_price = 3 << 17;

/// `price` times the part of `bytes` that lies between `from` and `to`.
constexpr std::int64_t ramp(std::int64_t bytes, std::int64_t from, std::int64_t to, std::int64_t price) {
  return bytes <= from ? 0 : bytes >= to ? price : price * (bytes - from) / (to - from);
}
/// What a byte costs beyond near_price when `set` bytes pass between its uses. Two fifths of L2 serve for sure.
constexpr std::int64_t beyond_l2(std::int64_t set, device const& on) {
  return ramp(set, on.l2_bytes * 2 / 5, on.l2_bytes, far_price - near_price);
}

constexpr std::int64_t bytes(shape const& s) { return 4 * std::int64_t(s.count()); }
constexpr std::int64_t image_bytes(shape const& s) { return bytes(s) / s.n; }
constexpr std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

/// Bytes of link i's result that exist at a time.
constexpr std::int64_t tile_bytes(chain_link const* chain, int count, int i, chain_tiling const& t) {
  shape const& s = chain[i].out;
  std::int64_t const rows = t.how == tiling::channels ? s.h : rows_kept(chain, count, i);
  std::int64_t const pixels = t.how == tiling::pixels ? t.tile : rows * s.w;
  return 4 * pixels * (by_channels(t.how) ? t.tile : s.c);
}

/// Price of the values inside a chain when every link is computed alone: each is written, and read again when, on
/// average, half of the next one has been written too.
constexpr std::int64_t unfused_traffic(chain_link const* chain, int count, device const& on) {
  std::int64_t sum = 0;
  for (int i = 0; i + 1 < count; ++i) {
    std::int64_t const set = bytes(chain[i].out) + bytes(chain[i + 1].out) / 2;
    sum += 2 * bytes(chain[i].out) * (ramp(set, on.l1_bytes, on.l2_bytes / 4, near_price) + beyond_l2(set, on));
  }
  return sum;
}

/// How often the weights are read.
constexpr std::int64_t passes(chain_link const* chain, int count, chain_tiling const& t) {
  shape const& out = chain[count - 1].out;
  if (t.how == tiling::pixels) return pieces(out.pixels(), t.tile);
  return t.how == tiling::channels ? out.n : out.n * pieces(out.h, pipeline_rows);
}

/// Price of the same in tiles, and of reading the weights again for each. From L2 weights cost half: large ones come
/// from there for each register tile in any case. Only wide chunks of whole images make runs so long that L1 pays.
constexpr std::int64_t tiled_traffic(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  std::int64_t moved = 0, weights = 0, tiles = 0;
  for (int i = 0; i < count; ++i) weights += chain[i].weight_bytes;
  for (int i = 0; i + 1 < count; ++i) {
    moved += 2 * bytes(chain[i].out);
    tiles += tile_bytes(chain, count, i, t);
  }
  if (t.how == tiling::channels && t.tile >= 48 && tiles <= on.l1_bytes / 2) return 0;
  std::int64_t const chunks = by_channels(t.how) ? pieces(chain[0].out.c, t.tile) : 1;
  std::int64_t const far = beyond_l2(tiles + (t.how == tiling::channels ? 0 : weights / chunks), on);
  return moved * (near_price + far) + (passes(chain, count, t) - 1) * weights * (near_price / 2 + far);
}

/// Price of further chunks of channels: reading the input again, and partial sums, which cost instructions too.
constexpr std::int64_t chunk_traffic(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  if (!by_channels(t.how)) return 0;
  chain_link const &first = chain[0], &last = chain[count - 1];
  std::int64_t const input = first.kind == op::depthwise ? 0 : image_bytes(first.in);
  std::int64_t const sums = is_matrix_product(last.kind) ? image_bytes(last.out) : 0;
  std::int64_t set = input + sums;
  for (int i = 0; i + 1 < count; ++i) set += tile_bytes(chain, count, i, t);
  std::int64_t const chunks = pieces(first.out.c, t.tile), far = beyond_l2(set, on);
  return last.out.n * (chunks - 1) * (input * far + 2 * sums * (far_price + far));
}

/// Price of starting kernels for every tile.
constexpr std::int64_t starts(chain_link const* chain, int count, chain_tiling const& t) {
  std::int64_t const chunks = by_channels(t.how) ? pieces(chain[0].out.c, t.tile) : 1;
  return passes(chain, count, t) * chunks * count * (t.how == tiling::channels ? chunk_price : rows_price);
}

}  // namespace detail

/// A tiling and the price of the traffic that it saves; negative: it costs more.
struct tiling_choice {
  chain_tiling best{};
  std::int64_t saved{};
};

/// Is there a faster way for this operator than the direct one (Winograd), but only alone?
constexpr bool better_alone(chain_link const& l) {
  return l.kind == op::conv2d && l.win.is_dense_square(3) && l.in.c >= 16;
}

/// What `t` saves: nothing with rows too short for whole register tiles, or with chunks of images too narrow for them,
/// or where the first operator is better alone.
constexpr std::int64_t saved_by(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
  bool const rows = t.how == tiling::rows || t.how == tiling::channels_rows;
  if ((rows && chain[count - 1].out.w < 7) || (t.how == tiling::channels && t.tile < 48)) return 0;
  if (better_alone(chain[0])) return 0;
  return detail::unfused_traffic(chain, count, on) - detail::tiled_traffic(chain, count, t, on) -
         detail::chunk_traffic(chain, count, t, on) - detail::starts(chain, count, t);
}

/// The best size of tile for `how`; none if every chunk would hold all channels. Chunks are multiples of 16 channels,
/// whole vectors on every machine. 64 of them suit the register tiles of most (measured: more gain nothing); more make
/// for fewer partial sums, and of a ring of rows the size counts. Runs of pixels are multiples of usual register tiles.
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

/// The best tiling of a chain; `saved` may be negative. Rows win a draw.
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
