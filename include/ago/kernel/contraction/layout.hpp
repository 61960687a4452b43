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

#include <initializer_list>

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
  bool fetches_result = false;    ///< the result is in no cache, and prefetched before a tile is computed
  bool fetches_rows = false;      ///< likewise rows that are one run in memory
  bool fetches_columns = false;   ///< and columns of outer products, and those whose steps of K are lanes
  bool packs_by_panel = false;    ///< all rows are in one block: a panel of columns is packed when it is used
  int rows = 1, columns = 1, depth = 1, batches = 1;
  int lanes = 1, vectors = 1;  ///< vectors that the columns fill
  register_tile tile{};
  int k_run = 1;                 ///< steps of K that are consecutive in a row
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
    long const columns_there = columns_known || columns_in_place || lanes_are_steps ? 0
                               : lanes_are_batches ? (columns_turned ? turned_floats(columns) : 0)
                               : packs_by_panel    ? long(k_block) * panel()
                                                   : column_floats();
    return aligned(packed_columns_at() + columns_there);
  }
  constexpr long sums_at() const {
    if (lanes_are_batches) return aligned(copied_rows_at() + (rows_turned && !rows_known ? turned_floats(rows) : 0));
    bool const copied = !in_place && !walks && !outer && !rows_known;
    return aligned(copied_rows_at() + (copied ? long(row_block) * row_stride : 0));
  }
  constexpr long made_at() const {
    if (lanes_are_batches) return aligned(sums_at() + (k_blocks() > 1 ? long(rows) * columns * padded_batches() : 0));
    if (lanes_are_steps) return aligned(sums_at() + long(row_block) * fours() * lanes);
    return aligned(sums_at() + (k_blocks() > 1 ? long(row_block) * padded_columns() : 0));
  }
  constexpr long scratch_floats() const { return made_at() + made_floats; }
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

/// Makes lanes batches if that pays: where these are neighbours in memory, and rows and columns few.
constexpr void consider_batches(contraction_layout& r, expression::index_expression const& e, int parameter, isa target,
                                device const& on) {
  using loop = expression::matrix_loop;
  expression::matrix_form const& f = r.form;
  if (lanes(target) == 1 || f.batch.count != 1 || r.batches < lanes(target)) return;
  loop const& z = f.batch.all[0];
  bool const a = z.a == 1 && f.a.operand != parameter, b = z.b == 1 && f.b.operand != parameter;
  if (!a && !b) return;
  long const turned = (a || r.rows_known ? 0 : r.rows) + (b || r.columns_known ? 0 : r.columns);
  if ((!a && f.m.count + f.k.count > 5) || (!b && f.n.count + f.k.count > 5)) return;  // loops of a copy
  batched_choice const best = choose_batched(f, target);
  if (best.cost + 100 * turned * r.depth * r.batches >= r.batches * (product_cost(f, parameter, target, false) + 2000))
    return;
  r.lanes_are_batches = true;
  r.tile = {best.rows, best.columns, batched_run(f.m, best.rows) % best.rows,
            batched_run(f.n, best.columns) % best.columns};
  r.registers = best.registers;
  r.rows_turned = !a;
  r.columns_turned = !b;
  r.in_place = r.walks = r.outer = r.columns_in_place = r.packs_by_panel = r.lanes_are_steps = false;
  r.rows_pad_turned = !a && r.rows_padded && turned_step(e.operands[r.rows_operand], f.a, f.batch, &loop::a) > 0;
  r.columns_pad_turned =
      !b && r.columns_padded && turned_step(e.operands[r.columns_operand], f.b, f.batch, &loop::b) > 0;
  r.rows_padded = r.rows_padded && !r.rows_pad_turned;
  r.columns_padded = r.columns_padded && !r.columns_pad_turned;
  // So that long sums go through memory in its order: sums of a block wait until all batches have been there.
  int const inner = f.k.count > 1 ? f.k.all[f.k.count - 1].extent : r.depth;
  r.k_block = inner >= 16 ? inner : r.depth;
  offset_range const of_a = range_of_rows(f, r.tile.pixels, r.k_block), of_b = range_of_columns(f, r.k_block);
  // A copy that is larger than L2 may stay there nearly as well: with 32 MB of L3, one of 5.5 MB is faster by rows, and
  // one of 1.9 MB is slower. Not if the result goes through L2 too: then 1.3 MB are faster by rows, by a sixth.
  long const near = 4 * on.l2_bytes;
  if (a && r.rows_padded) r.rows_window = rows_at_a_time(f.a, of_a, on, r.fetches_result ? on.l2_bytes : near);
  if (b && r.columns_padded) r.columns_window = rows_at_a_time(f.b, of_b, on, near);
}

/// Do the loops over a factor step through its last extent without going from one pixel to the next? Not if one of them
/// is two that were joined: that over pixels, and one over every second channel.
constexpr bool stays_in_pixels(std::initializer_list<expression::matrix_loops const*> all,
                               long expression::matrix_loop::* which, long start, long last) {
  long lowest = start % last, highest = lowest;
  for (expression::matrix_loops const* const l : all)
    for (int i = 0; i < l->count; ++i) {
      long const step = (start + l->all[i].*which) % last - start % last;
      (step < 0 ? lowest : highest) += step * (l->all[i].extent - 1);
    }
  return lowest >= 0 && highest < last;
}

/// Copies a factor with its last extent in front, if this makes runs of it and it is read from there often enough.
/// Where the last extent is that of many channels, neighbouring pixels are a large power of two apart: read one by one,
/// they compete for few sets of a cache. `across`: rows or columns; `which`: their steps in the factor; `runs`: the
/// loops whose steps are to be runs.
constexpr void consider_turning(contraction_layout& r, expression::matrix_operand& o, expression::matrix_loops& across,
                                long expression::matrix_loop::* which, expression::matrix_loops const& runs,
                                int& last_in_front) {
  long const last = o.padded.of[o.padded.rank - 1], all = o.padded.count(), others = all / last, start = o.start;
  auto const place = [=](long at) { return at / last + at % last * others; };
  auto const turn = [&](expression::matrix_loops& l) {
    for (int i = 0; i < l.count; ++i) l.all[i].*which = place(start + l.all[i].*which) - place(start);
  };
  if (last < r.lanes || run_of(across, which) > 1 || run_of(r.form.k, which) > 1) return;
  if (across.extent() * r.depth < 4 * all) return;
  if (!stays_in_pixels({&r.form.batch, &across, &r.form.k}, which, start, last)) return;
  expression::matrix_loops turned = runs;
  turn(turned);
  if (run_of(turned, which) < 4) return;
  turn(r.form.batch);
  turn(across);
  turn(r.form.k);
  o.start = place(start);
  last_in_front = int(last);
}

/// Chooses how operand `made` is computed by the part before. In blocks, if those of K are contiguous in it.
constexpr void consider_making(contraction_layout& r, expression::index_expression const& e, int made) {
  using loop = expression::matrix_loop;
  if (made < 0) return;
  expression::matrix_form const& f = r.form;
  bool const one = r.makes_rows != r.makes_columns;
  r.makes = making::padded;
  if (one && (r.makes_rows ? r.rows_padded : r.columns_padded)) return;
  long loop::* const which = r.makes_rows ? &loop::a : &loop::b;
  expression::matrix_loops const& across = r.makes_rows ? f.m : f.n;
  expression::matrix_operand const& o = r.makes_rows ? f.a : f.b;
  long const step = f.k.step(which), count = e.operands[made].count();
  offset_range range;
  range.add(across, int(across.extent()), which);
  bool const packed_first = r.makes_columns && !r.packs_by_panel && !r.columns_in_place;
  bool const contiguous =
      f.k.is_progression(which) && range.lowest == 0 && range.highest < step && o.start == 0 && step * r.depth <= count;
  bool const in_blocks = one && contiguous && !r.lanes_are_batches && r.batches == 1 && r.rows <= r.row_block;
  r.makes = in_blocks && !packed_first ? making::blocks : making::all;
  r.made_step = step;
  r.made_floats = r.makes == making::blocks ? step * r.k_block : count;
}

/// Chooses what is prefetched: what L2 has no room for.
constexpr void consider_fetching(contraction_layout& r, bool in_vectors, device const& on) {
  using loop = expression::matrix_loop;
  auto const is_long_run = [&](int count, bool made) { return !made && 4L * count * r.depth > on.l2_bytes; };
  r.fetches_result = 4L * r.rows * r.columns * r.batches > on.l2_bytes;
  if (r.outer) {
    r.fetches_rows = r.form.k.step(&loop::a) == r.rows && is_long_run(r.rows, r.makes_rows);
    r.fetches_columns = r.form.k.step(&loop::b) == r.columns && is_long_run(r.columns, r.makes_columns);
  } else if (r.lanes_are_steps) {
    r.fetches_columns = is_long_run(r.columns, false);
  } else {
    r.fetches_rows = r.in_place && in_vectors && r.form.m.step(&loop::a) == r.depth && is_long_run(r.rows, false);
  }
}

/// Makes lanes steps of K if that pays: where these are neighbours in memory, and columns would be transposed to pack
/// them. If both ways round can have it, the cheaper one.
constexpr void consider_steps(contraction_layout& r, expression::index_expression const& e, int parameter, isa target,
                              device const& on, bool may_exchange) {
  using loop = expression::matrix_loop;
  if (run_of(r.form.n, &loop::b) > 1) return;
  long least = product_cost(r.form, parameter, target, false);
  expression::matrix_form const ways[] = {r.form, exchanged(r.form)};
  for (expression::matrix_form const& f : ways) {
    if (!has_steps_in_lanes(f, parameter) || f.b.is_padded(e.operands[f.b.operand])) continue;
    long const cost = steps_cost(f, target, on);
    if (cost < least) {
      least = cost;
      r.lanes_are_steps = true;
      r.form = f;
    }
    if (!may_exchange) return;
  }
}

/// Chooses which factor gives rows, and the orders of the loops.
constexpr void choose_form(contraction_layout& r, expression::index_expression const& e, int parameter, isa target,
                           bool in_order, device const& on, factor_layout how, int made) {
  using loop = expression::matrix_loop;
  r.form = expression::matrix_form_of(e);
  bool const in_place = how != factor_layout::never_in_place && lanes(target) > 1;
  bool const may_exchange = how != factor_layout::not_swapped;
  r.outer = in_place && !is_scheduled_by_hand(target) && is_outer(r.form, parameter);
  bool const exchanges = r.outer ? outer_cost(exchanged(r.form), target) < outer_cost(r.form, target)
                                 : pays_to_exchange(r.form, parameter, target);
  if (may_exchange && exchanges) r.form = exchanged(r.form);
  if (in_place && !in_order && !r.outer && made < 0) consider_steps(r, e, parameter, target, on, may_exchange);
  if (r.lanes_are_steps) {
    r.form.k = joined_loops(in_order_of(r.form.k, &loop::b));
  } else {
    r.form.n = order_of_columns(r.form, parameter);
    r.form.k = order_of_steps(r.form, r.form.b.operand != parameter);
  }
  expression::matrix_loops* const others[] = {&r.form.batch, &r.form.m, &r.form.n};
  for (expression::matrix_loops* const l : others) *l = joined_loops(*l);
}

/// Rows that are computed at a time, in whole tiles: those whose steps of a block of K stay in L2.
constexpr int rows_in_block(contraction_layout const& r, schedule const& wish, device const& on) {
  long const line = 4L * r.k_block, close = on.l2_bytes / 4 / line, most = 1024;
  int const tile = r.tile.pixels, all = (r.rows + tile - 1) / tile * tile;
  long const usual = close < 8L * tile ? 8L * tile : close;
  long const wanted = wish.block > 0 ? wish.block : r.outer ? most : usual;
  int const whole = int((wanted < most ? wanted : most) / tile * tile), rows = whole > tile ? whole : tile;
  return rows < all ? rows : all;
}

/// `parameter`: the operand that is known ahead, and packed; `made`: the one that the part of a pipeline before
/// computes; -1: none. Expects that the expression has a matrix form.
constexpr contraction_layout layout_of_contraction(expression::index_expression const& e, int parameter, isa target,
                                                   bool in_order = false, schedule const& wish = {},
                                                   device const& on = {}, factor_layout how = factor_layout::chosen,
                                                   int made = -1) {
  using loop = expression::matrix_loop;
  contraction_layout r;
  bool const may_read_in_place = how != factor_layout::never_in_place;
  bool const in_vectors = lanes(target) > 1 && !is_scheduled_by_hand(target);
  choose_form(r, e, parameter, target, in_order, on, how, made);
  r.rows_operand = r.form.a.operand;
  r.columns_operand = r.form.b.operand;
  r.columns_known = r.columns_operand == parameter;
  r.rows_known = r.rows_operand == parameter && !r.columns_known;
  r.makes_rows = made >= 0 && r.rows_operand == made;
  r.makes_columns = made >= 0 && r.columns_operand == made;
  r.rows_padded = r.form.a.is_padded(e.operands[r.rows_operand]) && !r.rows_known;
  r.columns_padded = r.form.b.is_padded(e.operands[r.columns_operand]) && !r.columns_known;
  r.outer = r.outer && !r.rows_padded && !r.columns_padded && is_outer(r.form, parameter);
  r.rows = int(r.form.m.extent());
  r.columns = int(r.form.n.extent());
  r.depth = int(r.form.k.extent());
  r.batches = int(r.form.batch.extent());
  r.lanes = lanes(target);
  if (!r.rows_known && !r.makes_rows && r.batches == 1)
    consider_turning(r, r.form.a, r.form.m, &loop::a, r.form.k, r.rows_last);
  r.vectors = padded(r.columns, target) / r.lanes;
  bool const cold = r.columns_known && r.column_floats() >= 1L << 14;
  int const near = r.depth < 512 ? r.depth : 512;
  matrix_work const work{.pixels = r.rows, .channels = r.columns, .depth = near, .cold = cold};
  long const run = kernel::run_of(r.form.k, &loop::a);
  r.in_place = may_read_in_place && !r.rows_known && is_dense(r.form.k, r.form.m);
  r.walks = may_read_in_place && !r.rows_known && !r.in_place && !r.outer && !r.lanes_are_steps &&
            pays_to_walk(r.columns, run, target);
  r.tile = r.lanes_are_steps             ? steps_tile(target, r.rows)
           : r.walks && wish.pixels == 0 ? walking_tile(target, r.rows, r.vectors, near)
                                         : matrix_tile({target, in_order}, work, wish);
  // Columns that a few rows use are not worth packing: a few more if all are in L2.
  long const few = 4L * r.depth * r.columns <= on.l2_bytes / 2 ? 8 : 2;
  r.columns_in_place =
      r.outer || (r.in_place && !r.lanes_are_steps && !r.columns_known && in_vectors && r.rows <= few * r.tile.pixels &&
                  r.form.k.count <= 1 && kernel::run_of(r.form.n, &loop::b) == r.columns);
  r.k_run = int(run);
  long const columns_run = r.columns_known || r.columns_in_place ? 1 : kernel::run_of(r.form.k, &loop::b);
  r.k_block = r.outer             ? outer_k_block(r.depth, r.rows + r.columns, on)
              : r.lanes_are_steps ? steps_k_block(r.depth, run, r.tile, on)
                                  : contraction_k_block(r.depth, run, columns_run, r.tile, r.lanes, on);
  // Registers are stored whole, beyond the end of a row. An odd number of lines keeps rows from competing for few sets
  // of the cache.
  r.row_stride = (r.k_block + r.lanes + 15) / 16 * 16;
  if (r.row_stride % 32 == 0) r.row_stride += 16;
  r.row_block = rows_in_block(r, wish, on);
  consider_fetching(r, in_vectors, on);
  r.packs_by_panel = !r.columns_known && !r.columns_in_place && !r.lanes_are_steps && r.rows <= r.row_block;
  if (may_read_in_place) consider_batches(r, e, parameter, target, on);
  if (!r.lanes_are_batches && !r.makes_columns && r.packs_by_panel)
    consider_turning(r, r.form.b, r.form.n, &loop::b, r.form.n, r.columns_last);
  consider_making(r, e, made);
  return r;
}

/// Sets the register tile that a schedule wishes.
constexpr void choose_contraction(kernel_key& key, schedule const& wish) {
  if (wish.pixels > 0 && wish.vectors > 0) key.tile = {wish.pixels, wish.vectors};
}

/// That of a kernel. `key.tile`: the register tile; 1 x 1: the analytic default decides.
constexpr contraction_layout layout_of_contraction(kernel_key const& key) {
  bool const decided = key.tile.pixels * key.tile.vectors > 1;
  schedule const wish{.pixels = decided ? key.tile.pixels : 0, .vectors = decided ? key.tile.vectors : 0};
  return layout_of_contraction(*key.described, key.weight_operand, key.target, key.in_order, wish, {}, key.factors,
                               key.made_operand);
}

}  // namespace ago::kernel
