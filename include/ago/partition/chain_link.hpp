// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of a chain, and what a pipeline that computes them uses at a time.
#pragma once

#include <ago/expression/pixel_fold.hpp>
#include <ago/partition/tiling.hpp>
#include <ago/partition/traffic.hpp>
#include <ago/partition/weight.hpp>

namespace ago::partition {

/// An operator of a chain, with the elementwise operators after it.
struct chain_link {
  op kind{};
  shape in{}, out{};
  window win{};
  long weight_bytes{};
  int adds = -1;  ///< link of the chain whose input an elementwise operator of this one reads, too; -1: none
  bool begins{};  ///< it reads an input of the network
  bool has_windows_of_channels{};  ///< contraction
};

/// Of those operands whose pixels a nest folds, the one computed last; -1: it folds no pixels.
constexpr int operand_folded(graph_view g, int v) {
  node const& n = g.nodes[v];
  expression::pixel_fold const fold(*n.described);
  int r = -1;
  for (int k = 0; k < n.input_count; ++k)
    if ((r < 0 || g.operand(v, k) > g.operand(v, r)) && fold.is_over(k, pipeline_rows)) r = k;
  return r;
}

/// The operand of an operator that the one before it in a chain computes: the first one, of a contraction of values
/// the first that is elementwise, or one whose pixels a nest folds. Its number; -1: none.
constexpr int operand_in_chain(graph_view g, int v) {
  node const& n = g.nodes[v];
  if (n.kind == op::nest) return operand_folded(g, v);
  if (n.kind != op::contraction) return n.input_count > 0 ? 0 : -1;
  for (int k = 0; k < n.input_count && n.weight_operand < 0; ++k)
    if (is_elementwise(g.source(v, k).kind)) return k;
  return -1;
}

constexpr chain_link link_of(graph_view g, int main, int result) {
  node const& n = g.nodes[main];
  int const operand = operand_in_chain(g, main);
  int const k = operand < 0 ? 0 : operand;
  bool const begins = n.input_count > 0 && g.operand(main, k) < g.input_count;
  return {n.kind,
          g.source(main, k).out,
          g.nodes[result].out,
          n.win,
          weight_bytes(g, main),
          -1,
          begins,
          n.kind == op::contraction && expression::has_windows_of_channels(*n.described)};
}

/// Can the chain be computed with this tiling? By channels, operators in the middle must be depthwise. Pooling and
/// elementwise operators, which only start chains, are computed by rows only, or as operands of a contraction. A nest
/// only ends chains, the links before which are one, or are computed by rows.
constexpr bool allows(chain_link const* chain, int count, tiling how) {
  bool const folds = count > 1 && chain[count - 1].kind == op::nest;
  if (folds != (how == tiling::fold)) return false;
  if (folds) return count == 2 || allows(chain, count - 1, tiling::rows);
  if (how == tiling::operand || (count > 0 && chain[count - 1].kind == op::contraction))
    return how == tiling::operand && count == 2 && is_elementwise(chain[0].kind) && chain[1].kind == op::contraction;
  bool matrix = true, depthwise = true;
  for (int i = 0; i < count; ++i) {
    bool const only_rows = pools_windows(chain[i].kind) || is_elementwise(chain[i].kind);
    if (only_rows && how != tiling::rows) return false;
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

constexpr std::int64_t products_of(chain_link const& l) { return l.weight_bytes / 4 * l.out.pixels(); }

/// Bytes of link i's result that exist at a time.
constexpr std::int64_t tile_bytes(chain_link const* chain, int count, int i, chain_tiling const& t) {
  if (t.how == tiling::operand) return 0;
  shape const& s = chain[i].out;
  std::int64_t const rows = t.how == tiling::channels ? s.h : rows_kept(chain, count, i);
  std::int64_t const pixels = t.how == tiling::pixels ? t.tile : rows * s.w;
  return 4 * pixels * (by_channels(t.how) ? t.tile : s.c);
}

/// How often a chain's kernels start, and the bytes that they use meanwhile.
struct working_set {
  std::int64_t images, chunks;         ///< of the batch (runs of pixels take it as one image); of the channels
  std::int64_t passes;                 ///< over the weights of a chunk, per image
  std::int64_t input, result;          ///< of one image, the part that one chunk reads or writes
  std::int64_t tiles;                  ///< of all values inside the chain
  std::int64_t weights;                ///< of one chunk
  std::int64_t kept[max_parts - 1]{};  ///< of the result of each part that another one reads

  constexpr std::int64_t of_pass() const { return (input + result) / passes + tiles + weights; }
  constexpr std::int64_t of_chunk() const { return input + result + tiles + weights; }
};

constexpr working_set set_of(chain_link const* chain, int count, chain_tiling const& t) {
  if (t.how == tiling::fold) return set_of(chain, count - 1, {tiling::rows, 0});
  chain_link const &first = chain[0], &last = chain[count - 1];
  int const images = t.how == tiling::pixels || t.how == tiling::operand ? 1 : last.out.n;
  working_set r{images, 1, 1, bytes(first.in) / images, bytes(last.out) / images, 0, 0};
  if (by_channels(t.how)) r.chunks = pieces(first.out.c, t.tile);
  if (t.how == tiling::pixels) r.passes = pieces(last.out.pixels(), t.tile);
  else if (t.how != tiling::channels && t.how != tiling::operand) r.passes = pieces(last.out.h, pipeline_rows);
  if (first.kind == op::depthwise) r.input /= r.chunks;
  if (r.chunks > 1 && !is_matrix_product(last.kind)) r.result /= r.chunks;
  for (int i = 0; i < count; ++i) r.weights += chain[i].weight_bytes / r.chunks;
  for (int i = 0; i + 1 < count; ++i) r.tiles += r.kept[i] = tile_bytes(chain, count, i, t);
  return r;
}

}  // namespace ago::partition
