// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles of products of many batches of few rows and columns, and how many image rows of their padded operands
// are copied at a time, right before they are used: so the copies stay in L2, and such an operand is read from memory
// once and written never.
#pragma once

#include <ago/expression/matrix_form.hpp>
#include <ago/ir/isa.hpp>
#include <ago/partition/device.hpp>

namespace ago::kernel {

/// The rows, or columns, in which tiles of a product of batches are the same: all, if they are few, otherwise those of
/// the innermost loop.
constexpr int batched_run(expression::matrix_loops const& l, int tile) {
  int const all = int(l.extent());
  return all == tile || l.count <= 1 ? all : l.all[l.count - 1].extent;
}
/// The width of a tile of a product of batches in the i-th attempt: all, or 1 ... 12 of the innermost loop; 0: none.
constexpr int batched_tile(expression::matrix_loops const& l, int i) {
  int const all = int(l.extent());
  if (i == 0) return all <= 12 ? all : 0;
  return i <= batched_run(l, -1) ? i : 0;
}
constexpr long batched_tiles(expression::matrix_loops const& l, int tile) {
  int const run = batched_run(l, tile);
  return l.extent() / run * ((run + tile - 1) / tile);
}

/// Hundredths of the cycles of a tile of rows x columns of registers of batches, of k steps: two loads, or two
/// multiply-adds, in a cycle, and four cycles for each sum.
constexpr long cost_of_batches(int rows, int columns, int registers, long k) {
  long const products = rows * columns * registers, loads = (rows + columns) * registers;
  long const busiest = products > loads ? products : loads;
  return (busiest > 8 ? busiest * 50 : 400) * k + 1000 + 100 * products;
}
/// The tile of a product of batches, and the cost of all of it.
struct batched_choice {
  int rows = 1, columns = 1, registers = 1;
  long cost = -1;
};
constexpr batched_choice choose_batched(expression::matrix_form const& f, isa target) {
  batched_choice best;
  int const most = vector_registers(target) == 32 ? 20 : 9;
  long const k = f.k.extent(), all = (f.batch.extent() + lanes(target) - 1) / lanes(target);
  for (int i = 0; i <= 12; ++i) {
    int const p = batched_tile(f.m, i);
    if (p == 0) continue;
    long const m_tiles = batched_tiles(f.m, p);
    for (int j = 0; j <= 12; ++j) {
      int const q = batched_tile(f.n, j);
      if (q == 0) continue;
      long const tiles = m_tiles * batched_tiles(f.n, q);
      for (int u = 1; u <= 2 && u <= all && p * q * u <= most; ++u) {
        long const rest = all % u > 0 ? cost_of_batches(p, q, int(all % u), k) : 0;
        long const cost = tiles * (all / u * cost_of_batches(p, q, u, k) + rest);
        if (best.cost < 0 || cost < best.cost) best = {p, q, u, cost};
      }
    }
  }
  return best;
}

/// The rows of a padded operand: its last two dimensions. The dimensions before are one, of rows.
struct padded_rows {
  long floats{};  ///< of a row
  long count{};   ///< of rows

  constexpr explicit padded_rows(expression::matrix_operand const& o) {
    if (o.padded.rank < 3) return;
    floats = o.padded.stride(o.padded.rank - 3);
    count = o.padded.count() / floats;
  }
};

/// The smallest and the largest offset that loops add.
struct offset_range {
  long lowest{}, highest{};
  constexpr void add(expression::matrix_loop const& l, long expression::matrix_loop::* which) {
    long const x = l.*which * (l.extent - 1);
    (x < 0 ? lowest : highest) += x;
  }
  /// Those of so many iterations, which are all of some inner loops and a part of the next one.
  constexpr void add(expression::matrix_loops const& l, int iterations, long expression::matrix_loop::* which) {
    for (int i = l.count; i-- > 0 && iterations > 1; iterations /= l.all[i].extent) {
      expression::matrix_loop some = l.all[i];
      if (some.extent > iterations) some.extent = iterations;
      add(some, which);
    }
  }
};

/// Steps of K that are added at a time, so that a long sum goes through memory in its order, and sums of a block wait
/// until all batches have been there: those of the innermost loop, or of so many iterations of the next one that these
/// are enough; all, if there is no such number.
constexpr int batched_k_block(expression::matrix_loops const& k, int least) {
  int const all = int(k.extent()), inner = k.count > 1 ? k.all[k.count - 1].extent : all;
  if (inner >= least || k.count < 2) return inner;
  int const next = k.all[k.count - 2].extent;
  for (int i = 2; i <= next; ++i)
    if (next % i == 0 && inner * i >= least) return inner * i;
  return all;
}

/// What a run of rows, or all columns, read of their factor in a block of K, from the first element on.
constexpr offset_range range_of_rows(expression::matrix_form const& f, int tile, int k_block) {
  using loop = expression::matrix_loop;
  offset_range r;
  r.add(f.batch, int(f.batch.extent()), &loop::a);
  r.add(f.m, batched_run(f.m, tile), &loop::a);
  r.add(f.k, k_block, &loop::a);
  return r;
}
constexpr offset_range range_of_columns(expression::matrix_form const& f, int k_block) {
  using loop = expression::matrix_loop;
  offset_range r;
  r.add(f.batch, int(f.batch.extent()), &loop::b);
  r.add(f.n, int(f.n.extent()), &loop::b);
  r.add(f.k, k_block, &loop::b);
  return r;
}

/// How far apart batches are in an operand, if they are the indices of a dimension that has no padding, so that all
/// batches of an element are padding, or none; otherwise 0.
constexpr long turned_step(expression::extents const& of, expression::matrix_operand const& o,
                           expression::matrix_loops const& batch, long expression::matrix_loop::* which) {
  long const step = batch.all[0].*which;
  for (int d = 0; d < of.rank; ++d)
    if (o.padded.stride(d) == step && o.padded.of[d] == of.of[d] && of.of[d] == batch.all[0].extent)
      return of.stride(d);
  return 0;
}

/// Where the element of a place in the operand with its padding is; -1: that place is padding.
constexpr long source_of(expression::extents const& of, expression::matrix_operand const& o, long place) {
  long r = 0;
  for (int d = 0; d < of.rank; ++d) {
    long const i = place / o.padded.stride(d) % o.padded.of[d] - o.before[d];
    if (i < 0 || i >= of.of[d]) return -1;
    r += i * of.stride(d);
  }
  return r;
}

/// How many rows of an operand are in scratch at a time, if its elements are read in this range around places that go
/// through it in its order: some more than these, so that few are copied again when the copies begin anew; 0: all rows.
constexpr int rows_at_a_time(expression::matrix_operand const& o, offset_range const& read, device const& on) {
  padded_rows const rows(o);
  if (rows.count == 0) return 0;
  long const least = (read.highest - read.lowest) / rows.floats + 2, fit = on.l2_bytes / 4 / (4 * rows.floats);
  long const r = fit > least + 2 ? fit : least + 2;
  return r * 2 <= rows.count ? int(r) : 0;
}

}  // namespace ago::kernel
