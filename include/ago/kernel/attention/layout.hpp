// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tiles of products of two values (matmul and attention), and the layout of their scratch.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>

namespace ago::kernel {

/// Register tile of a product of two values: rows of the first by vectors of columns of the second; remaining rows use
/// half as many. It depends only on the instruction set, so that all sizes share code. Its rows are a power of two, as
/// numbers of tokens often are.
constexpr register_tile product_tile(isa target) {
  int const rows = vector_registers(target) / 4;
  return {rows, is_matrix_tile(target, rows, 3) ? 3 : 2};
}

/// The packed second operand of a product: panels of at most product_tile().vectors vectors of columns, whose numbers
/// of vectors differ by at most one. Each panel is [depth][its vectors * lanes].
struct product_layout {
  int depth = 0, columns = 0;
  int vectors = 0, panels = 0;  ///< vectors of columns; panels of vectors
  int lanes = 1;

  constexpr product_layout() = default;
  constexpr product_layout(int depth_, int columns_, isa target)
      : depth(depth_), columns(columns_), vectors(padded(columns_, target) / ago::ir::lanes(target)),
        lanes(ago::ir::lanes(target)) {
    int const most = product_tile(target).vectors;
    panels = (vectors + most - 1) / most;
  }
  constexpr int padded_columns() const { return vectors * lanes; }
  /// First vector of a panel; for `panels` it is one past the last vector.
  constexpr int first_vector(int panel) const { return int(long(vectors) * panel / panels); }
  constexpr long panel_offset(int panel) const { return long(first_vector(panel)) * lanes * depth; }
  constexpr long floats() const { return long(padded_columns()) * depth; }
};

constexpr bool is_product(structure what) {
  return what == structure::matmul || what == structure::attention_scores || what == structure::attention_values ||
         what == structure::attention;
}

/// The work of such a step for each of its batches (for an attention: each image, place in the patch and head). It
/// multiplies `rows` rows with the packed operand `first`; an attention then multiplies the results, after softmax,
/// with `second`. A few rows are computed at a time. Scratch, each part a multiple of 64 bytes:
///   operand `first`, operand `second`, and for the rows computed at a time: their factors, copies of the rows, results
///   of the first product, results of the second product; and the initial values of both products' accumulators.
struct attention_layout {
  int rows = 0, together = 0;  ///< rows of a batch; rows computed at a time, in whole register tiles
  product_layout first, second;

  constexpr long second_operand() const { return aligned(first.floats()); }
  constexpr long factors() const { return second_operand() + aligned(second.floats()); }
  constexpr long row_copies() const { return factors() + aligned(together); }
  constexpr long first_results() const { return row_copies() + aligned(long(together) * first.depth); }
  constexpr long second_results() const { return first_results() + aligned(long(together) * first.padded_columns()); }
  constexpr long first_start() const { return second_results() + aligned(long(together) * second.padded_columns()); }
  constexpr long second_start() const { return first_start() + aligned(first.padded_columns()); }
  constexpr long floats() const { return second_start() + aligned(second.padded_columns()); }

 private:
  static constexpr long aligned(long floats) { return (floats + 15) / 16 * 16; }
};

/// Tokens of one batch of an attention: one from each patch of the image `s`.
constexpr int tokens_of(shape const& s, patch const& p) { return s.h / p.h * (s.w / p.w); }

constexpr attention_layout layout_of_attention(structure what, step_data const& s, step_details const& d, isa target) {
  attention_layout r;
  if (what == structure::matmul) {
    r.rows = s.in.w;
    r.first = {s.in.c, s.out.c, target};
  } else if (what == structure::attention_values) {
    r.rows = s.in.w;
    r.first = {s.in.c, s.out.c / s.groups, target};
  } else if (what != structure::attention_scores && what != structure::attention) {
    ir::no_case_for_this_value();
  } else {
    int const keys = tokens_of(d.other_shape, d.patch);
    r.rows = tokens_of(s.in, d.patch);
    r.first = {s.in.c / s.groups, keys, target};
    if (what == structure::attention) r.second = {keys, s.in.c / s.groups, target};
  }
  // 8 KB of results of the first product stay in L1 together with the panel that they are multiplied by, so all tiles
  // but the first read it from there.
  int const tile = product_tile(target).pixels, columns = r.first.padded_columns();
  int const whole = (r.rows + tile - 1) / tile * tile, close = 2048 / (columns > 0 ? columns : 1) / tile * tile;
  r.together = close < tile ? tile : close < whole ? close : whole;
  return r;
}

/// Floats of a step's scratch, 0 if it needs none.
constexpr long attention_scratch_floats(structure what, planned_data const& s, isa target) {
  return is_product(what) ? layout_of_attention(what, s, s, target).floats() : 0;
}

}  // namespace ago::kernel
