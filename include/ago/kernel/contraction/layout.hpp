// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a sum of products is computed as a matrix product with scattered rows and columns: which factor gives rows and
// which columns, register tile, cache blocks, and the layout of packed operands and of scratch.
//
// The loops are those of BLIS; that panels can be packed by offsets, whatever the number of axes, is the result of
// TBLIS (Matthews, 2018). Rows are not packed in BLIS's panels, but copied one after another, as copies of whole runs
// are cheap, and the register tiles of the dense kernels read rows.
#pragma once

#include <ago/kernel/contraction/batched_schedule.hpp>
#include <ago/kernel/contraction/schedule.hpp>

namespace ago::kernel {

/// How the part of a pipeline before a product computes one of its factors: not; as its elements are copied with
/// padding; those of a block of K before they are used; all.
enum class making : std::uint8_t { nothing, padded, blocks, all };

/// The plan of one product. Factor `a` of the form gives rows, `b` columns. Packed:
///   columns: for each batch, block of K and panel of `tile.vectors` vectors (the last of `tile.vectors_left`, if that
///   is not 0): [steps of K in the block][vectors * lanes];
///   rows, if they are a parameter: for each batch and block of K: [rows][row_stride].
/// If lanes are batches, as in depthwise convolutions and their gradients, a tile is rows x columns of `registers`
/// registers of batches, and a factor whose batches are not neighbours, or that is a parameter, is copied, or packed:
///   [rows or columns][depth][batches, padded to whole registers].
struct contraction_layout {
  expression::matrix_form form{};
  int rows_operand = -1, columns_operand = -1;       ///< of the expression
  bool rows_known = false, columns_known = false;    ///< packed ahead
  bool rows_padded = false, columns_padded = false;  ///< values that are copied into scratch with their padding
  bool in_place = false;          ///< rows are equally spaced in memory and have no gaps: nothing is copied
  bool walks = false;             ///< rows are read where they are, through tables of offsets
  bool columns_in_place = false;  ///< columns are consecutive, and steps of K equally spaced: they are not packed
  bool outer = false;             ///< likewise the rows: sums of outer products, of which nothing is copied
  bool by_runs = false;           ///< likewise, but both may be several runs, and steps of K several lines
  bool fetches_result = false;    ///< the result is in no cache, and prefetched before a tile is computed
  bool fetches_rows = false;      ///< likewise rows that are one run in memory
  bool fetches_columns = false;   ///< and columns of outer products, and those whose steps of K are lanes
  bool packs_by_panel = false;    ///< all rows are in one block: a panel of columns is packed when it is used
  int rows = 1, columns = 1, depth = 1, batches = 1;
  int lanes = 1, vectors = 1;  ///< vectors that the columns fill
  register_tile tile{};
  int k_run = 1;                 ///< steps of K that are consecutive in a row
  int column_run = 1;            ///< columns of a run,
  int k_line = 1;                ///< and steps of K that are equally spaced in both factors
  int k_block = 1;               ///< steps of K that are added at a time
  int row_block = 1;             ///< rows that are computed at a time: whole tiles
  int row_stride = 0;            ///< floats between copied rows
  bool lanes_are_steps = false;  ///< of K: neither factor is packed, and a tile is rows x columns, these by fours
  bool lanes_are_batches = false;
  int registers = 1;                                         ///< of batches
  bool rows_turned = false, columns_turned = false;          ///< copied or packed, so that batches are neighbours
  bool rows_pad_turned = false, columns_pad_turned = false;  ///< this copy adds the padding, which is no other one
  int rows_window = 0, columns_window = 0;  ///< rows of a padded factor that are copied at a time; 0: all
  int rows_last = 0, columns_last = 0;  ///< the last extent of a factor that is copied with it in front; 0: it is not
  making makes{};                       ///< of one factor, or both, if they are one operand
  bool makes_rows = false, makes_columns = false;
  long made_step = 0, made_floats = 0;  ///< of a step of K, if it is made in blocks; in scratch

  constexpr int k_blocks() const { return (depth + k_block - 1) / k_block; }
  constexpr int steps_in(int block) const { return block + 1 < k_blocks() ? k_block : depth - block * k_block; }
  constexpr int padded_columns() const { return vectors * lanes; }
  constexpr int panel() const { return tile.vectors * lanes; }

  /// Floats of the columns of one batch.
  constexpr long column_floats() const { return long(depth) * padded_columns(); }
  constexpr long panel_offset(int block, int first_column) const {
    return long(block) * k_block * padded_columns() + long(first_column) * steps_in(block);
  }
  /// Floats of the rows of one batch, if they are packed ahead.
  constexpr long row_floats() const { return long(k_blocks()) * rows * row_stride; }
  /// Floats of the packed parameter, 0 if both factors are values.
  constexpr long packed_floats() const {
    if (lanes_are_batches) return rows_known ? turned_floats(rows) : columns_known ? turned_floats(columns) : 0;
    return rows_known ? batches * row_floats() : columns_known ? batches * column_floats() : 0;
  }

  /// Registers of sums of a row, if lanes are steps of K: each holds parts of the sums of four columns.
  constexpr int fours() const { return (columns + 3) / 4; }

  /// Floats of so many rows or columns with batches as neighbours.
  constexpr long turned_floats(int count) const { return long(count) * depth * padded_batches(); }
  constexpr int padded_batches() const { return (batches + lanes - 1) / lanes * lanes; }
  /// Where an element of the packed parameter is; `i`: its row or column.
  constexpr long packed_place(int batch, int i, int k) const {
    if (lanes_are_batches) return (long(i) * depth + k) * padded_batches() + batch;
    int const block = k / k_block, step = k % k_block;
    if (rows_known) return batch * row_floats() + (long(block) * rows + i) * row_stride + step;
    int const first = i / panel() * panel();
    int const width = first + panel() < padded_columns() ? panel() : padded_columns() - first;
    return batch * column_floats() + panel_offset(block, first) + long(step) * width + i - first;
  }

  // Scratch, each part a multiple of 64 bytes.
  constexpr long padded_rows_at() const { return 0; }
  constexpr long turned_rows_at() const { return rows_padded ? padded_floats(form.a, rows_window) : 0; }
  constexpr long padded_columns_at() const { return turned_rows_at() + (rows_last > 0 ? padded_floats(form.a, 0) : 0); }
  constexpr long turned_columns_at() const {
    return padded_columns_at() + (columns_padded ? padded_floats(form.b, columns_window) : 0);
  }
  constexpr long packed_columns_at() const {
    return turned_columns_at() + (columns_last > 0 ? padded_floats(form.b, 0) : 0);
  }
  constexpr long copied_rows_at() const {
    long const columns_there = columns_known || columns_in_place || lanes_are_steps || by_runs ? 0
                               : lanes_are_batches ? (columns_turned ? turned_floats(columns) : 0)
                               : packs_by_panel    ? long(k_block) * panel()
                                                   : column_floats();
    return aligned(packed_columns_at() + columns_there);
  }
  constexpr long sums_at() const {
    if (lanes_are_batches) return aligned(copied_rows_at() + (rows_turned && !rows_known ? turned_floats(rows) : 0));
    bool const copied = !in_place && !walks && !outer && !by_runs && !rows_known;
    return aligned(copied_rows_at() + (copied ? long(row_block) * row_stride : 0));
  }
  constexpr long made_at() const {
    if (lanes_are_batches) return aligned(sums_at() + (k_blocks() > 1 ? long(rows) * columns * padded_batches() : 0));
    if (lanes_are_steps) return aligned(sums_at() + long(row_block) * fours() * lanes);
    return aligned(sums_at() + (k_blocks() > 1 ? long(row_block) * padded_columns() : 0));
  }
  constexpr long scratch_floats() const { return made_at() + made_floats; }
  /// Rows that are computed at a time, whole tiles, if so many are wished.
  constexpr int rows_at_once(int wish) const {
    int const whole = wish / tile.pixels * tile.pixels;
    if (packs_by_panel || whole > row_block) return row_block;
    return whole > tile.pixels ? whole : tile.pixels;
  }
  /// Work items begin at multiples of so many rows of all batches.
  constexpr int granule() const {
    return lanes_are_batches ? rows * lanes * registers : batches > 1 ? rows : tile.pixels;
  }
  constexpr long all_rows() const { return long(batches) * rows; }

  static constexpr long aligned(long floats) { return (floats + 15) / 16 * 16; }
  static constexpr long padded_floats(expression::matrix_operand const& o, int window) {
    return aligned(window > 0 ? window * padded_rows(o).floats : o.padded.count());
  }
};

}  // namespace ago::kernel
