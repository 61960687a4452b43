// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of many batches of few rows and columns, which are neighbours in memory: lanes are batches. Gradients of
// depthwise convolutions are such; a column is a tap, or there is one column.
#pragma once

#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/contraction/meanwhile.hpp>
#include <ago/kernel/epilogue.hpp>
#include <ago/simd/register_run.hpp>
#include <ago/simd/unrolled.hpp>

namespace ago::kernel {

/// C[z, m, n] = scale * sum over k of A[z, m, k] * B[z, k, n] of the layout L, whose lanes are batches z.
template <contraction_layout const& L, isa I, class After, bool Fetches>
class product_of_batches {
  using loop = expression::matrix_loop;
  using loops = expression::matrix_loops;
  static constexpr int V = lanes(I);

 public:
  /// Batches first ... last - 1, which begin at multiples of V * L.registers, and end at such or at the end. `rows`,
  /// `columns`: of the first batch, packed or with padding; without if L has a window for them. `copy_a`, `copy_b`: how
  /// they are copied then. `beside`: as of contraction_product.
  static void run(expression::index_expression const& e, float const* rows, float const* columns, float* result,
                  float* scratch, After const& after, auto const& copy_a, auto const& copy_b, int first, int last,
                  auto const& beside) {
    float* const to = scratch + L.copied_rows_at();
    if constexpr (L.rows_turned && !L.rows_known) turn<L.rows_pad_turned>(e, L.form.a, L.form.m, &loop::a, rows, to);
    float* const other = scratch + L.packed_columns_at();
    if constexpr (L.columns_turned && !L.columns_known)
      turn<L.columns_pad_turned>(e, L.form.b, L.form.n, &loop::b, columns, other);
    float *const some_rows = scratch + L.padded_rows_at(), *const some_columns = scratch + L.padded_columns_at();
    memory m{rows, columns, result, scratch + L.sums_at()};
    if constexpr (Fetches) m.other = beside.other;
    if constexpr (!L.rows_known && (L.rows_turned || L.rows_window > 0)) m.a = L.rows_turned ? to : some_rows;
    if constexpr (!L.columns_known && (L.columns_turned || L.columns_window > 0))
      m.b = L.columns_turned ? other : some_columns;
    auto slide_a = sliding(e, L.form.a, L.rows_window, rows, some_rows, copy_a);
    auto slide_b = sliding(e, L.form.b, L.columns_window, columns, some_columns, copy_b);
    [[maybe_unused]] float const* copied = nullptr;  // to there
    for (int block = 0; block < L.k_blocks(); ++block)
      for (int i = 0; i < L.rows; i += row_run) {
        if constexpr (L.rows_window > 0) {
          long const at = a_start + m_loops.offset(i, &loop::a) + k_loops.offset(long(block) * L.k_block, &loop::a);
          m.a_from = slide_a(at + read_of_a.lowest, at + read_of_a.highest);
          float const* const next = slide_a.next();
          m.next_a = of_run == 0 || next != copied ? next : m.next_a + of_run;
          copied = next;
        }
        if constexpr (L.columns_window > 0) {
          long const at = b_start + k_loops.offset(long(block) * L.k_block, &loop::b);
          m.b_from = slide_b(at + read_of_b.lowest, at + read_of_b.highest);
          m.next_b = slide_b.next();
        }
        if constexpr (fetched_rows > 0 && L.rows_window == 0)
          m.next_a = m.a + (a_start + k_loops.offset(long(block + 1) * L.k_block, &loop::a) + read_of_a.lowest);
        for (int j = 0; j < L.columns; j += column_run) run_of_rows(m, after, {block, i, j, first}, last);
        if (block + 1 == L.k_blocks()) m.c = beside(i + row_run, m.c);
      }
  }

 private:
  static constexpr bool in_blocks = L.k_blocks() > 1;
  /// Few steps of K are no loop, so that their offsets are constants: a tile of them takes hardly longer than it takes
  /// to find the offsets.
  static constexpr bool unrolls = L.depth <= 9;

  struct memory {
    float const *a, *b;
    float *c, *sums;
    long a_from{}, b_from{};                           ///< the places of the factors' first elements there
    float const* other = nullptr;                      ///< see meanwhile
    float const *next_a = nullptr, *next_b = nullptr;  ///< see fetch_next_block
  };
  struct spot {
    int block, row, column, batch;
  };

  /// The loops of a factor as it is read.
  static constexpr loops as_turned(loops l, long loop::* which, long step) {
    for (int i = l.count; i-- > 0;) {
      l.all[i].*which = step;
      step *= l.all[i].extent;
    }
    return l;
  }
  static constexpr int z = L.padded_batches();
  static constexpr loops m_loops = L.rows_turned ? as_turned(L.form.m, &loop::a, long(L.depth) * z) : L.form.m,
                         n_loops = L.columns_turned ? as_turned(L.form.n, &loop::b, long(L.depth) * z) : L.form.n;
  static constexpr loops k_loops = [] {
    loops k = L.form.k;
    if (L.rows_turned) k = as_turned(k, &loop::a, z);
    if (L.columns_turned) k = as_turned(k, &loop::b, z);
    return k;
  }();
  static constexpr loop inner = k_loops.count > 0 ? k_loops.all[k_loops.count - 1] : loop{};
  static constexpr int row_run = batched_run(m_loops, L.tile.pixels), column_run = batched_run(n_loops, L.tile.vectors);
  static constexpr long batch_step = L.form.batch.all[0].c;
  /// Where factors begin, and what is read of them from there on at a time.
  static constexpr long a_start = L.rows_known || L.rows_turned ? 0 : L.form.a.start,
                        b_start = L.columns_known || L.columns_turned ? 0 : L.form.b.start;
  static constexpr offset_range read_of_a = range_of_rows(L.form, L.tile.pixels, L.k_block),
                                read_of_b = range_of_columns(L.form, L.k_block);

  template <class Copy>
  static sliding_copy<I, Copy> sliding(expression::index_expression const& e, expression::matrix_operand const& o,
                                       int window, float const* from, float* to, Copy const& copy) {
    return {e.operands[o.operand], o, e.body.accesses[o.access].pad(), window, from, to, copy};
  }

  /// Copies a factor so that batches are neighbours, `Pads`: and with its padding.
  template <bool Pads>
  static void turn(expression::index_expression const& e, expression::matrix_operand const& o, loops const& l,
                   long loop::* which, float const* from, float* to) {
    if constexpr (L.batches < z)
      for (long i = 0; i < long(l.extent()) * L.depth; ++i)
        for (int j = L.batches; j < z; ++j) to[i * z + j] = 0;
    if constexpr (Pads) {
      expression::extents const& of = e.operands[o.operand];
      long const step = turned_step(of, o, L.form.batch, which);
      for (long i = 0; i < l.extent(); ++i)
        for (int k = 0; k < L.depth; ++k, to += z) {
          long const place = source_of(of, o, o.start + l.offset(i, which) + L.form.k.offset(k, which));
          if (place < 0) {
            fill_run<I>(e.body.accesses[o.access].pad(), to, L.batches);
          } else {
            AGO_UNROLL(4)
            for (int j = 0; j < L.batches; ++j) to[j] = from[place + j * step];
          }
        }
    } else {
      strided_loops copy;
      copy.add(L.batches, int(L.form.batch.all[0].*which), 1);
      long step = z;
      auto const add = [&](loops const& all) {
        for (int i = all.count; i-- > 0; step *= all.all[i].extent)
          copy.add(all.all[i].extent, int(all.all[i].*which), int(step));
      };
      add(L.form.k);
      add(l);
      copy.arrange();
      copy_strided<I>(copy, from + o.start, to);
    }
  }

  /// Do blocks of K, not runs of rows, go through the factors?
  static constexpr bool in_blocks_of_all = in_blocks || L.rows == row_run;
  /// Floats of the rows by which a block of K goes on in a factor that is copied a few rows at a time.
  static constexpr long of_window(int window, expression::matrix_operand const& o,
                                  long expression::matrix_loop::* which) {
    long const row = padded_rows(o).floats;
    return in_blocks && window > 0 ? k_loops.offset(L.k_block, which) / row * row : 0;
  }
  /// Those by which a run of rows goes on in rows that are copied so, on the average.
  static constexpr long of_run = in_blocks_of_all || !L.fetches_rows ? 0 : L.form.a.padded.count() / (L.rows / row_run);
  /// Floats that the next block of K, or run of rows, reads of a factor which is copied a few rows at a time, as there
  /// is no cache for it, and those of the other one. They are prefetched while this block is multiplied, a few lines
  /// with every step: tiles go through them one register of batches after the other, which the hardware does not
  /// foresee, and most of many lines at once are dropped (measured on Zen 4 with 38 MB: 0.71 of the time).
  static constexpr long fetched_columns = of_window(L.columns_window, L.form.b, &loop::b),
                        fetched_rows = of_run > 0          ? of_run
                                       : L.rows_window > 0 ? of_window(L.rows_window, L.form.a, &loop::a)
                                       : fetched_columns > 0 && !L.rows_known && !L.rows_turned
                                           ? read_of_a.highest - read_of_a.lowest + 1
                                           : 0;
  /// The part of step i of K of a tile.
  template <long FLOATS>
  AGO_INLINE static void fetch_next_block([[maybe_unused]] float const* next, [[maybe_unused]] spot const& at,
                                          [[maybe_unused]] int i) {
    if constexpr (FLOATS > 0) {
      constexpr int chunk = L.registers * V, chunks = (L.batches + chunk - 1) / chunk,
                    columns = (L.columns + L.tile.vectors - 1) / L.tile.vectors,
                    rows = in_blocks_of_all ? L.rows : row_run,
                    tiles = (rows + L.tile.pixels - 1) / L.tile.pixels * columns * chunks;
      constexpr long lines = (FLOATS / line_floats + long(tiles) * L.k_block - 1) / (long(tiles) * L.k_block);
      long const tile =
          (at.row % rows / L.tile.pixels * columns + at.column / L.tile.vectors) * chunks + at.batch / chunk;
      next += (tile * L.k_block + i) * lines * line_floats;
      AGO_UNROLL(8)
      for (long f = 0; f < lines; ++f) __builtin_prefetch(next + f * line_floats, 0, 2);
    }
  }

  /// A run of rows, of batches at.batch ... last - 1. A result that is in no cache is nearly written in its order, with
  /// all batches of one tile after the other; otherwise, what all rows read of some batches stays in L1.
  static void run_of_rows(memory const& m, After const& after, spot const& at, int last) {
    if constexpr (L.fetches_result)
      rows(at, [&]<int ROWS>(spot const& row) {
        batches(row, last, [&]<int COUNT, int VALID>(spot const& x) { columns<ROWS, COUNT, VALID>(m, after, x); });
      });
    else
      batches(at, last, [&]<int COUNT, int VALID>(spot const& batch) {
        rows(batch, [&]<int ROWS>(spot const& x) { columns<ROWS, COUNT, VALID>(m, after, x); });
      });
  }
  /// f<COUNT, VALID>(spot): for COUNT registers of batches, the last of which has VALID.
  AGO_INLINE static void batches(spot at, int last, auto const& f) {
    constexpr int chunk = L.registers * V, whole = L.batches / chunk * chunk, left = L.batches - whole;
    for (; at.batch + chunk <= last; at.batch += chunk) f.template operator()<L.registers, V>(at);
    if constexpr (left > 0)
      if (at.batch < last) f.template operator()<(left + V - 1) / V, (left - 1) % V + 1>(at);
  }
  /// f<ROWS>(spot): for the rows of a tile.
  AGO_INLINE static void rows(spot at, auto const& f) {
    int const end = at.row + row_run;
    for (; at.row + L.tile.pixels <= end; at.row += L.tile.pixels) f.template operator()<L.tile.pixels>(at);
    if constexpr (L.tile.pixels_left > 0) f.template operator()<L.tile.pixels_left>(at);
  }
  template <int ROWS, int COUNT, int VALID>
  AGO_INLINE static void columns(memory const& m, After const& after, spot const& at) {
    spot now = at;
    for (; now.column + L.tile.vectors <= at.column + column_run; now.column += L.tile.vectors)
      tile<ROWS, L.tile.vectors, COUNT, VALID>(m, after, now);
    if constexpr (L.tile.vectors_left > 0) tile<ROWS, L.tile.vectors_left, COUNT, VALID>(m, after, now);
  }

  template <int ROWS, int COLUMNS, int COUNT, class F>
  AGO_INLINE static void each(vec<I> (&acc)[ROWS][COLUMNS][COUNT], F f) {
    AGO_UNROLL(32)
    for (int r = 0; r < ROWS; ++r) {
      AGO_UNROLL(32)
      for (int c = 0; c < COLUMNS; ++c) {
        AGO_UNROLL(2)
        for (int u = 0; u < COUNT; ++u) f(acc[r][c][u], r, c, u);
      }
    }
  }
  template <int COUNT, int VALID>
  AGO_INLINE static void load(float const* from, vec<I> (&to)[COUNT]) {
    AGO_UNROLL(2)
    for (int u = 0; u < COUNT; ++u)
      to[u] = u + 1 < COUNT || VALID == V ? vec<I>::load(from + u * V) : vec<I>::load(from + u * V, VALID);
  }

  template <int ROWS, int COLUMNS, int COUNT, int VALID>
  [[gnu::noinline]] static void tile(memory const& given, After const& after, spot const& at) {
    memory const m = given;  // stores of registers might be to `given`, for all that compilers know
    long const start = m_loops.offset(at.row, &loop::c) + n_loops.offset(at.column, &loop::c) + at.batch * batch_step;
    if constexpr (Fetches && batch_step == 1)
      unrolled<ROWS>([&]<int R>() AGO_INLINE_LAMBDA {
        unrolled<COLUMNS>([&]<int C>() AGO_INLINE_LAMBDA {
          constexpr long there = m_loops.offset(R, &loop::c) + n_loops.offset(C, &loop::c);
          AGO_UNROLL(2)
          for (int u = 0; u < COUNT; ++u) __builtin_prefetch(m.other + start + there + u * V, 0, 2);
        });
      });
    vec<I> acc[ROWS][COLUMNS][COUNT];
    [[maybe_unused]] float* const sums = m.sums + (long(at.row) * L.columns + at.column) * z + at.batch;
    [[maybe_unused]] auto const sum_of = [&](int r, int c, int u)
                                             AGO_INLINE_LAMBDA { return sums + (long(r) * L.columns + c) * z + u * V; };
    if (!in_blocks || at.block == 0) {
      each(acc, [](vec<I>& x, int, int, int) AGO_INLINE_LAMBDA { x = vec<I>(0.f); });
    } else if constexpr (in_blocks) {
      each(acc, [&](vec<I>& x, int r, int c, int u) AGO_INLINE_LAMBDA { x = vec<I>::load(sum_of(r, c, u)); });
    }
    long const a = a_start - m.a_from + m_loops.offset(at.row, &loop::a) + at.batch;
    long const b = b_start - m.b_from + n_loops.offset(at.column, &loop::b) + at.batch;
    if constexpr (unrolls) {
      unrolled<L.depth>([&]<int K>() AGO_INLINE_LAMBDA {
        constexpr long to_a = k_loops.offset(K, &loop::a), to_b = k_loops.offset(K, &loop::b);
        add<ROWS, COLUMNS, COUNT, VALID>(m.a + (a + to_a), m.b + (b + to_b), acc);
        fetch_next_block<of_run>(m.next_a, at, K);
      });
    } else {
      int const begin = at.block * L.k_block, end = begin + L.steps_in(at.block);
      AGO_UNROLL(1)
      for (int k = begin; k < end; k += inner.extent) {
        float const *p = m.a + (a + k_loops.offset(k, &loop::a)), *q = m.b + (b + k_loops.offset(k, &loop::b));
        AGO_UNROLL(1)
        for (int i = 0; i < inner.extent; ++i, p += inner.a, q += inner.b) {
          add<ROWS, COLUMNS, COUNT, VALID>(p, q, acc);
          fetch_next_block<fetched_rows>(m.next_a, at, k - begin + i);
          fetch_next_block<fetched_columns>(m.next_b, at, k - begin + i);
        }
      }
    }
    if constexpr (in_blocks)
      if (at.block + 1 < L.k_blocks())
        return each(acc, [&](vec<I>& x, int r, int c, int u) AGO_INLINE_LAMBDA { x.store(sum_of(r, c, u)); });
    if constexpr (L.form.scale != 1)
      each(acc, [](vec<I>& x, int, int, int) AGO_INLINE_LAMBDA { x = x * vec<I>(L.form.scale); });
    unrolled<ROWS>([&]<int R>() AGO_INLINE_LAMBDA {
      unrolled<COLUMNS>([&]<int C>() AGO_INLINE_LAMBDA {
        constexpr long there = m_loops.offset(R, &loop::c) + n_loops.offset(C, &loop::c);
        AGO_UNROLL(2)
        for (int u = 0; u < COUNT; ++u)
          store(after, acc[R][C][u], m.c, start + there + u * V * batch_step, u + 1 < COUNT ? V : VALID);
      });
    });
  }

  /// One step of K: the factor that has fewer registers stays in them.
  template <int ROWS, int COLUMNS, int COUNT, int VALID>
  AGO_INLINE static void add(float const* a, float const* b, vec<I> (&acc)[ROWS][COLUMNS][COUNT]) {
    if constexpr (ROWS <= COLUMNS) {
      vec<I> x[ROWS][COUNT];
      unrolled<ROWS>([&]<int R>() AGO_INLINE_LAMBDA { load<COUNT, VALID>(a + row_offset<R>, x[R]); });
      unrolled<COLUMNS>([&]<int C>() AGO_INLINE_LAMBDA {
        vec<I> y[COUNT];
        load<COUNT, VALID>(b + column_offset<C>, y);
        AGO_UNROLL(32)
        for (int r = 0; r < ROWS; ++r) {
          AGO_UNROLL(2)
          for (int u = 0; u < COUNT; ++u) acc[r][C][u] = fma(x[r][u], y[u], acc[r][C][u]);
        }
      });
    } else {
      vec<I> y[COLUMNS][COUNT];
      unrolled<COLUMNS>([&]<int C>() AGO_INLINE_LAMBDA { load<COUNT, VALID>(b + column_offset<C>, y[C]); });
      unrolled<ROWS>([&]<int R>() AGO_INLINE_LAMBDA {
        vec<I> x[COUNT];
        load<COUNT, VALID>(a + row_offset<R>, x);
        AGO_UNROLL(32)
        for (int c = 0; c < COLUMNS; ++c) {
          AGO_UNROLL(2)
          for (int u = 0; u < COUNT; ++u) acc[R][c][u] = fma(x[u], y[c][u], acc[R][c][u]);
        }
      });
    }
  }
  /// Rows and columns of a tile have the same offsets in all tiles.
  template <int R>
  static constexpr long row_offset = m_loops.offset(R, &loop::a);
  template <int C>
  static constexpr long column_offset = n_loops.offset(C, &loop::b);

  AGO_INLINE static void store(After const& after, vec<I> x, float* c, long place, int count) {
    if constexpr (batch_step == 1) {
      if constexpr (After::is_empty) {
        return store_lanes(x, c + place, count);
      } else if (int(place) % after.channels + count <= after.channels) {
        return store_lanes(after.all(x, place / after.channels, int(place) % after.channels, count), c + place, count);
      }
    }
    float lane[V];
    x.store(lane);
    AGO_UNROLL(1)
    for (int i = 0; i < count; ++i, place += batch_step) {
      if constexpr (After::is_empty) c[place] = lane[i];
      else after.all(vec<I>(lane[i]), place / after.channels, int(place) % after.channels, 1).store(c + place, 1);
    }
  }
};

}  // namespace ago::kernel
