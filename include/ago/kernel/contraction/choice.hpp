// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the layout of a contraction: one way of computing it is considered after the other.
#pragma once

#include <ago/kernel/contraction/layout.hpp>
#include <ago/kernel/contraction/runs_schedule.hpp>

#include <initializer_list>

namespace ago::kernel {

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
  // What is copied with its padding and exceeds L2 is copied by rows, if blocks of K, or runs of rows, follow each
  // other in it. Short rows take more time in blocks, so only then.
  auto const exceeds = [&](bool copies, expression::matrix_operand const& o) {
    return copies && 4 * o.padded.count() > on.l2_bytes;
  };
  bool const slides_a = exceeds(a && r.rows_padded, f.a), slides_b = exceeds(b && r.columns_padded, f.b);
  int const least = 16, inner = batched_k_block(f.k, least);
  r.k_block = slides_a || slides_b || f.k.count < 2 || f.k.all[f.k.count - 1].extent >= least ? inner : r.depth;
  offset_range const of_a = range_of_rows(f, r.tile.pixels, r.k_block), of_b = range_of_columns(f, r.k_block);
  if (slides_a) r.rows_window = rows_at_a_time(f.a, of_a, on);
  r.fetches_rows = r.rows_window > 0 && partition::exceeds_l3(4 * f.a.padded.count(), on);
  if (slides_b) r.columns_window = rows_at_a_time(f.b, of_b, on);
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
  bool const in_blocks =
      one && contiguous && !r.lanes_are_batches && !r.by_runs && r.batches == 1 && r.rows <= r.row_block;
  r.makes = in_blocks && !packed_first ? making::blocks : making::all;
  r.made_step = step;
  r.made_floats = r.makes == making::blocks ? step * r.k_block : count;
}

/// Chooses what is prefetched: what L2 has no room for.
constexpr void consider_fetching(contraction_layout& r, bool in_vectors, device const& on) {
  using loop = expression::matrix_loop;
  auto const is_long_run = [&](int count) { return 4L * count * r.depth > on.l2_bytes; };
  r.fetches_result = 4L * r.rows * r.columns * r.batches > on.l2_bytes;
  if (r.outer) {
    r.fetches_rows = r.form.k.step(&loop::a) == r.rows && is_long_run(r.rows);
    r.fetches_columns = r.form.k.step(&loop::b) == r.columns && is_long_run(r.columns);
  } else if (r.lanes_are_steps) {
    r.fetches_columns = is_long_run(r.columns);
  } else {
    r.fetches_rows = r.in_place && in_vectors && r.form.m.step(&loop::a) == r.depth && is_long_run(r.rows);
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

/// Computes the product by runs if that saves a twentieth: where both factors have many channels, copies take little,
/// and steps that are far apart compete for few sets of a cache. If both ways round can be so, the cheaper one.
constexpr void consider_runs(contraction_layout& r, int parameter, isa target, bool may_exchange) {
  using loop = expression::matrix_loop;
  expression::matrix_form const ways[] = {r.form, exchanged(r.form)};
  auto const usual = [&](expression::matrix_form const& f) {
    long const run = run_of(f.n, &loop::c);
    return product_cost(f, parameter, target, run < lanes(target) && run != f.n.extent());
  };
  long least = usual(ways[0]);
  if (long const other = usual(ways[1]); may_exchange && other < least) least = other;
  least -= least / 20;
  for (int i = 0; i <= may_exchange; ++i) {
    expression::matrix_form const f = form_by_runs(ways[i]);
    if (!has_runs(f, parameter, target) || runs_cost(f, target) >= least) continue;
    least = runs_cost(f, target);
    r.by_runs = true;
    r.form = f;
  }
}

/// Sets tile and blocks of a product by runs.
constexpr void choose_runs(contraction_layout& r, isa target, device const& on) {
  r.column_run = int(run_of(r.form.n, &expression::matrix_loop::b));
  r.k_line = r.form.k.all[r.form.k.count - 1].extent;
  r.vectors = registers_of_runs(r.form, target);
  r.tile = runs_tile(r.form, target, r.depth < 512 ? r.depth : 512);
  r.k_block = runs_k_block(r.form, r.k_line, on);
  r.row_block = r.rows;
}

/// Chooses which factor gives rows, and the orders of the loops.
constexpr void choose_form(contraction_layout& r, expression::index_expression const& e, int parameter, isa target,
                           bool in_order, device const& on, factor_layout how, int made) {
  using loop = expression::matrix_loop;
  r.form = expression::matrix_form_of(e);
  bool const in_place = how != factor_layout::never_in_place && lanes(target) > 1;
  bool const may_exchange = how != factor_layout::not_swapped;
  r.outer = in_place && !is_scheduled_by_hand(target) && is_outer(r.form, parameter);
  if (in_place && !is_scheduled_by_hand(target) && !r.outer) consider_runs(r, parameter, target, may_exchange);
  if (r.by_runs) return;
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
  if (r.by_runs) {
    choose_runs(r, target, on);
    consider_making(r, e, made);
    return r;
  }
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
  // Of a factor that is made, outer products prefetch what the next block is made of; others multiply copies.
  if (!r.outer || r.makes != making::blocks) {
    r.fetches_rows = r.fetches_rows && !r.makes_rows;
    r.fetches_columns = r.fetches_columns && !r.makes_columns;
  }
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

/// The most pixels of its result that such a product computes at a time, if so many are wished.
constexpr long pixels_at_once(contraction_layout const& l, expression::index_expression const& e, long wish) {
  long const channels = e.result.of[e.result.rank - 1], of_row = long(l.columns) * l.batches;
  int const rows =
      l.lanes_are_batches ? batched_run(l.form.m, l.tile.pixels) : l.rows_at_once(int(wish * channels / of_row));
  return (rows * of_row + channels - 1) / channels;
}

/// Does such a product compute all elements of some pixels of its result after all of those before? Of products of
/// batches, a run of rows at a time.
constexpr bool has_pixels_in_order(contraction_layout const& l, expression::index_expression const& e) {
  if (l.by_runs || (l.lanes_are_batches ? l.k_blocks() > 1 : l.batches > 1)) return false;
  long const channels = e.result.rank > 0 ? e.result.of[e.result.rank - 1] : 1;
  long step = long(l.columns) * l.batches;  // elements of a row
  int const run = l.lanes_are_batches ? batched_run(l.form.m, l.tile.pixels) : 1;
  for (int i = l.form.m.count; i-- > 0; step *= l.form.m.all[i].extent) {
    bool const is_run = i + 1 == l.form.m.count && l.form.m.all[i].extent == run;
    if (l.form.m.all[i].extent > 1 && l.form.m.all[i].c != step && !is_run) return false;
  }
  return step == e.result.count() && run * l.columns * l.batches % channels == 0;
}

}  // namespace ago::kernel
