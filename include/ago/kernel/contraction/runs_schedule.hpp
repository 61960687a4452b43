// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a product is computed by runs of columns (runs.hpp), and how.
#pragma once

#include <ago/kernel/contraction/schedule.hpp>

namespace ago::kernel {

/// Registers of a tile, each of which has an address of its own; and most of a run that ends with a part of one.
inline constexpr int most_runs_registers = 6, max_partial_run = 4;
/// Fewer rows do not hide the latency of multiply-adds.
inline constexpr int least_row_run = 6;

/// The form with rows and columns in order of their factors, and steps of K in order of the rows.
constexpr expression::matrix_form form_by_runs(expression::matrix_form f) {
  f.m = joined_loops(in_order_of_rows(f.m));
  f.n = joined_loops(in_order_of(f.n, &expression::matrix_loop::b));
  f.k = joined_loops(in_order_of_rows(f.k));
  return f;
}

/// Registers of the columns of such a form.
constexpr int registers_of_runs(expression::matrix_form const& f, isa target) {
  long const run = run_of(f.n, &expression::matrix_loop::b), width = lanes(target);
  return int(f.n.extent() / run * ((run + width - 1) / width));
}

/// Can it be computed so? Both factors are values, and enough steps of K are equally spaced, and enough rows a run.
/// Columns that fill registers only in part are stored one by one, or all are one run of the result.
constexpr bool has_runs(expression::matrix_form const& f, int parameter, isa target) {
  using loop = expression::matrix_loop;
  bool const values = f.a.operand != parameter && f.b.operand != parameter;
  long const rows = run_of(f.m, &loop::a);
  if (!values || f.batch.extent() > 1 || rows < (rows == f.m.extent() ? 2 : least_row_run)) return false;
  if (f.k.count == 0 || f.k.all[f.k.count - 1].extent < 4) return false;
  long const run = run_of(f.n, &loop::b), in_result = run_of(f.n, &loop::c), width = lanes(target);
  return run > 1 && (run % width == 0 || (run <= max_partial_run * width && in_result % width != 0));
}

/// Hundredths of a cycle of such a product: as product_cost().
constexpr long runs_cost(expression::matrix_form const& f, isa target) {
  using loop = expression::matrix_loop;
  long const n = f.n.extent(), m = f.m.extent(), k = f.k.extent(), width = lanes(target);
  long const registers = registers_of_runs(f, target), in_result = run_of(f.n, &loop::c);
  bool const stores = in_result >= width || in_result == n;
  return (registers > 1 ? 3 : 4) * m * k * registers * width + (stores ? 0 : 70 * m * n);
}

/// The register tile of such a product. If runs end with a part of a register, a tile begins with a run.
constexpr register_tile runs_tile(expression::matrix_form const& f, isa target, int depth) {
  using loop = expression::matrix_loop;
  int const rows = int(f.m.extent()), row_run = int(run_of(f.m, &loop::a)), registers = registers_of_runs(f, target);
  int const run = int(run_of(f.n, &loop::b)), width = lanes(target), in_run = (run + width - 1) / width;
  int const unit = run % width == 0 ? 1 : in_run;
  auto const fits = [=](int p, int v) {
    return v % unit == 0 && v <= most_runs_registers && (row_run == rows || row_run % p == 0);
  };
  return cheapest_tile(target, rows, registers, fits,
                       [&](register_tile const& t) { return matrix_cost(target, t, rows, registers, depth, false); });
}

/// Steps of K that are added at a time, whole lines: what they read of both factors stays in L1.
constexpr int runs_k_block(expression::matrix_form const& f, int line, device const& on) {
  int const depth = int(f.k.extent()), lines = depth / line;
  long const of_step = (f.a.padded.count() + f.b.padded.count()) / depth + 1;
  int const wanted = outer_k_block(depth, of_step, on), some = wanted > line ? wanted / line : 1;
  int const blocks = (lines + some - 1) / some;
  return (lines + blocks - 1) / blocks * line;
}

}  // namespace ago::kernel
