// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What decides how a sum of products is computed: the orders of its loops in the factors, and what it costs in one way
// or another. Which factor gives the rows, which are read where they are, and how many steps of K are added at a time.
#pragma once

#include <ago/expression/common_divisor.hpp>
#include <ago/expression/matrix_form.hpp>
#include <ago/kernel/matrix/schedule.hpp>

namespace ago::kernel {

/// The loops without those of one iteration; loops that are one are merged.
constexpr expression::matrix_loops joined_loops(expression::matrix_loops const& loops) {
  expression::matrix_loops r;
  for (int i = 0; i < loops.count; ++i) {
    expression::matrix_loop const& x = loops.all[i];
    if (x.extent == 1) continue;
    if (r.count > 0) {
      expression::matrix_loop& outer = r.all[r.count - 1];
      if (outer.a == x.a * x.extent && outer.b == x.b * x.extent && outer.c == x.c * x.extent) {
        outer = {outer.extent * x.extent, x.a, x.b, x.c};
        continue;
      }
    }
    r.all[r.count++] = x;
  }
  return r;
}

constexpr long size_of(long x) { return x < 0 ? -x : x; }

/// The loops in descending order of their steps in one factor, so that runs in it are as long as possible.
constexpr expression::matrix_loops in_order_of(expression::matrix_loops loops, long expression::matrix_loop::* which) {
  for (int i = 1; i < loops.count; ++i)
    for (int k = i; k > 0 && size_of(loops.all[k - 1].*which) < size_of(loops.all[k].*which); --k) {
      expression::matrix_loop const x = loops.all[k];
      loops.all[k] = loops.all[k - 1];
      loops.all[k - 1] = x;
    }
  return loops;
}
constexpr expression::matrix_loops in_order_of_rows(expression::matrix_loops const& loops) {
  return in_order_of(loops, &expression::matrix_loop::a);
}

/// How many iterations, from the innermost loop on, are consecutive elements.
constexpr long run_of(expression::matrix_loops const& loops, long expression::matrix_loop::* which) {
  long r = 1;
  for (int k = loops.count; k-- > 0; r *= loops.all[k].extent)
    if (loops.all[k].extent > 1 && loops.all[k].*which != r) return r;
  return r;
}

/// The steps of K, in order of the rows, unless most of what is packed are columns whose elements would then be read
/// one by one, far apart, and steps can be their runs.
constexpr expression::matrix_loops order_of_steps(expression::matrix_form const& f, bool packs_columns) {
  using loop = expression::matrix_loop;
  expression::matrix_loops const by_rows = joined_loops(in_order_of_rows(f.k)),
                                 by_columns = joined_loops(in_order_of(f.k, &loop::b));
  bool const is_scattered = run_of(f.n, &loop::b) == 1 && run_of(by_rows, &loop::b) == 1;
  bool const pays = packs_columns && is_scattered && f.n.extent() >= 2 * f.m.extent();
  return pays && run_of(by_columns, &loop::b) > 1 ? by_columns : by_rows;
}

/// The columns, in order of the result, unless packing them, which takes longer than storing deep sums, then reads
/// elements far apart that are runs in another order.
constexpr expression::matrix_loops order_of_columns(expression::matrix_form const& f, int parameter) {
  using loop = expression::matrix_loop;
  if (f.b.operand == parameter || f.batch.extent() > 1 || f.k.extent() < 2 * f.m.extent()) return f.n;
  expression::matrix_loops const by_factor = in_order_of(f.n, &loop::b);
  long const run = run_of(by_factor, &loop::b);
  return run >= 4 && run > run_of(f.n, &loop::b) ? by_factor : f.n;
}

/// The form with the factors exchanged: the columns of the product become its rows.
constexpr expression::matrix_form exchanged(expression::matrix_form f) {
  expression::matrix_operand const a = f.a;
  f.a = f.b;
  f.b = a;
  expression::matrix_loops const m = f.m;
  f.m = f.n;
  f.n = m;
  expression::matrix_loops* const all[] = {&f.batch, &f.m, &f.n, &f.k};
  for (expression::matrix_loops* const l : all)
    for (int i = 0; i < l->count; ++i) {
      long const x = l->all[i].a;
      l->all[i].a = l->all[i].b;
      l->all[i].b = x;
    }
  return f;
}

/// Are rows equally spaced in A, and without gaps?
constexpr bool is_dense(expression::matrix_loops const& k, expression::matrix_loops const& m) {
  using loop = expression::matrix_loop;
  return run_of(k, &loop::a) == k.extent() && m.is_progression(&loop::a);
}

/// Hundredths of a cycle of a product and of what it copies, with AVX-512 (measured): for each multiply-add 3, for each
/// element of a value that is packed as columns 45, for one that is copied as rows 20, and for each result that is
/// stored by transposing tiles 35, or 70 if columns are not equally spaced.
constexpr long product_cost(expression::matrix_form const& f, int parameter, isa target, bool transposes) {
  using loop = expression::matrix_loop;
  long const n = f.n.extent(), m = f.m.extent(), k = f.k.extent(), width = lanes(target);
  long const stored = !transposes ? 0 : f.n.is_progression(&loop::c) ? 35 : 70;
  bool const free = f.a.operand == parameter || is_dense(in_order_of_rows(f.k), f.m);
  return 3 * m * k * ((n + width - 1) / width * width) + (free ? 0 : 20 * m * k) +
         (f.b.operand == parameter ? 0 : 45 * n * k) + stored * m * n;
}

/// Are columns short runs, and rows one run, in the factors of a long sum of two values? As in the gradient of the
/// weights of a network's first convolution, of an image of three channels: packing such columns takes longer than
/// multiplying.
constexpr bool has_scattered_columns(expression::matrix_form const& f, int parameter, isa target) {
  using loop = expression::matrix_loop;
  long const n = f.n.extent(), m = f.m.extent(), width = lanes(target);
  bool const values = f.a.operand != parameter && f.b.operand != parameter;
  return values && f.batch.extent() == 1 && f.k.extent() >= 8 * (n + m) && m >= width && run_of(f.m, &loop::a) == m &&
         run_of(order_of_columns(f, parameter), &loop::b) < width;
}

/// Should the product be computed with rows and columns exchanged? If columns are consecutive in the result, they are
/// stored from registers. If rows are, tiles are transposed.
constexpr bool pays_to_exchange(expression::matrix_form const& f, int parameter, isa target) {
  using loop = expression::matrix_loop;
  long const n = f.n.extent(), m = f.m.extent();
  long const columns = run_of(f.n, &loop::c), rows = run_of(f.m, &loop::c);
  if (has_scattered_columns(f, parameter, target)) return true;
  if (columns >= lanes(target) || columns == n) return n < lanes(target) && rows >= 4 * n && rows >= lanes(target);
  if (rows < lanes(target) && (rows < m || rows <= columns)) return false;
  if (columns > 1 || rows < 8) return true;
  return product_cost(exchanged(f), parameter, target, false) < product_cost(f, parameter, target, true);
}

/// Is the product a sum of outer products of what is consecutive in memory, as the gradient of the weights of a matrix
/// product is: a row of each factor for every pixel?
constexpr bool is_outer(expression::matrix_form const& f, int parameter) {
  using loop = expression::matrix_loop;
  bool const values = f.a.operand != parameter && f.b.operand != parameter;
  return values && run_of(f.m, &loop::a) == f.m.extent() && run_of(f.n, &loop::b) == f.n.extent() && f.m.extent() > 1 &&
         f.k.extent() > 1 && f.k.is_progression(&loop::a) && f.k.is_progression(&loop::b);
}
/// Hundredths of a cycle of such a product: as product_cost(). A register of columns alone needs a load for each
/// multiply-add.
constexpr long outer_cost(expression::matrix_form const& f, isa target) {
  using loop = expression::matrix_loop;
  long const n = f.n.extent(), m = f.m.extent(), k = f.k.extent(), width = lanes(target);
  long const registers = (n + width - 1) / width, run = run_of(f.n, &loop::c);
  bool const stores = run >= width || run == n;
  return (registers > 1 ? 3 : 4) * m * k * registers * width + (stores ? 0 : 35 * m * n);
}
/// Steps of K of such a product that are added at a time: what they read of both factors stays in L1, unless these
/// would be so few that loading and storing sums takes longer.
constexpr int outer_k_block(int depth, long step_floats, device const& on) {
  long const close = on.l1_bytes * 3 / 4 / (4 * step_floats), wanted = close >= 48 ? close : 128;
  if (close < 48 && depth <= 2 * wanted) return depth;
  long const blocks = (depth + wanted - 1) / wanted;
  return int((depth + blocks - 1) / blocks);
}

/// Can registers hold steps of K? They are consecutive in each column, and columns equally spaced. Both are values.
constexpr bool has_steps_in_lanes(expression::matrix_form const& f, int parameter) {
  using loop = expression::matrix_loop;
  bool const values = f.a.operand != parameter && f.b.operand != parameter;
  return values && f.k.extent() > 1 && f.n.is_progression(&loop::b) &&
         run_of(in_order_of(f.k, &loop::b), &loop::b) == f.k.extent();
}
/// The register tile of such a product: rows, and columns by fours, whose lanes are added up together. All columns of a
/// tile stay in L1 while rows pass, which come from L2: so few rows.
constexpr register_tile steps_tile(isa target, int rows) {
  int const most = vector_registers(target) == 32 ? 3 : 2, pixels = rows < most ? rows : most;
  return {pixels, most == 3 || pixels == 1 ? 8 : 4, rows % pixels, 0};
}
/// Steps of K in blocks of about `wanted`, or all if these are few more. Blocks are whole runs of rows, which are then
/// copied faster, and of columns, or lines of cache where runs are longer: if there is a multiple of both.
constexpr int k_block_of(int depth, long wanted, long rows_run, long columns_run) {
  if (depth <= 2 * wanted) return depth;
  long const rows = rows_run <= 64 ? rows_run : 16, columns = columns_run <= 64 ? columns_run : 16,
             both = expression::common_multiple(rows, columns), unit = both <= wanted ? both : columns;
  long const blocks = (depth + wanted - 1) / wanted;
  return int(((depth + blocks - 1) / blocks + unit - 1) / unit * unit);
}
/// Steps of K that are added at a time: those of a tile stay in L1.
constexpr int steps_k_block(int depth, long rows_run, register_tile const& t, device const& on) {
  return k_block_of(depth, on.l1_bytes * 3 / 4 / (4L * (t.pixels + t.vectors)), rows_run, depth);
}
/// Hundredths of a cycle of such a product: as product_cost(). The lanes of sums are added up by fours after each block
/// of K, and then together (measured on Zen 5). Fewer than four columns take as long. What is scheduled by hand
/// multiplies faster (counted for an A76).
constexpr long steps_cost(expression::matrix_form const& f, isa target, device const& on) {
  long const n = f.n.extent(), m = f.m.extent(), k = f.k.extent(), width = lanes(target);
  int const block = steps_k_block(int(k), 1, steps_tile(target, int(m)), on);
  long const sums = (k + block - 1) / block * m * n;
  return 3 * m * (n > 4 ? n : 4) * ((k + width - 1) / width * width) +
         (is_dense(in_order_of_rows(f.k), f.m) ? 0 : 20 * m * k) + 150 * sums + 250 * m * n +
         (is_scheduled_by_hand(target) ? 2 * m * n * k : 0);
}

/// Does it pay to read rows through tables of offsets? It takes another load for each step of K, and a register for
/// each row of a tile; copying takes a store for each run, which many columns share. The loops that are scheduled by
/// hand read rows four steps at a time.
constexpr bool pays_to_walk(int columns, long run, isa target) {
  return !is_scheduled_by_hand(target) && lanes(target) > 1 && run < 16 && columns <= (run == 1 ? 256 : 128);
}

/// The register tile for that.
constexpr register_tile walking_tile(isa target, int rows, int vectors, int depth) {
  constexpr int most = 8;
  register_tile best{};
  long least = -1;
  for (int p = 1; p <= rows && p <= most; ++p)
    for (int v = 1; v <= vectors && is_matrix_tile(target, p, v); ++v) {
      register_tile const t{p, v, rows % p, vectors % v};
      long const c = matrix_cost(target, t, rows, vectors, depth, false);
      if (least >= 0 && c >= least) continue;
      best = t;
      least = c;
    }
  return best;
}

/// Steps of K that are added at a time: a panel of them stays in L1.
constexpr int contraction_k_block(int depth, long rows_run, long columns_run, register_tile const& t, int lanes,
                                  device const& on) {
  long const most = on.l1_bytes * 3 / 4 / (4L * (t.vectors * lanes + t.pixels)), least = 256;
  return k_block_of(depth, most > least ? most : least, rows_run, columns_run);
}

}  // namespace ago::kernel
