// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products whose factors both have steps of K as neighbours in memory: lanes are these, as in a dot product, and
// nothing is transposed. The first layer of capsules is such in training, whose weights change with every step.
#pragma once

#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/contraction/results.hpp>

namespace ago::kernel {

/// C[m, n] = scale * sum over k of A[m, k] * B[k, n] of the layout L, whose lanes are steps of K.
template <contraction_layout const& L, isa I, class After>
class product_by_steps {
  using loop = expression::matrix_loop;
  using results = contraction_results<L, I, After>;
  using spot = typename results::spot;
  static constexpr expression::matrix_loops m_loops = L.form.m, n_loops = L.form.n;

 public:
  /// Rows and columns of a block of K, and the sums: registers [fours of columns][rows], in which every fourth lane
  /// belongs to a column. `begins`: there are none yet.
  struct work {
    float const *a, *b;
    float* sums;
    int rows, steps;
    bool begins;
  };

  static void add_block(work const& w) {
    constexpr int whole = L.columns - columns_left;
    for (int column = 0; column < whole; column += C) panel<C>(w, column);
    if constexpr (columns_left > 0) panel<columns_left>(w, whole);
  }

  /// Adds up the parts of the sums, and stores them as any product's.
  static void finish(float const* sums, spot const* row, int rows, float* c, After const& after) {
    for (int column = 0; column < L.columns; column += V) {
      int const valid = L.columns - column < V ? L.columns - column : V;
      auto const columns = results::template pieces<V>(after, column, valid);
      auto const some = [&]<int ROWS>(int first) AGO_INLINE_LAMBDA {
        vec<I> total[ROWS][1];
        for (int r = 0; r < ROWS; ++r) total[r][0] = totals(sums + column / 4 * group + (first + r) * V, valid);
        if constexpr (L.form.scale != 1)
          for_each_register<I>(total, [](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = x * vec<I>(L.form.scale); });
        results::template put<L.columns % V != 0>(after, total, row + first, columns, c);
      };
      int first = 0;
      for (; first + L.tile.pixels <= rows; first += L.tile.pixels) some.template operator()<L.tile.pixels>(first);
      if constexpr (L.tile.pixels_left > 0)
        if (first < rows) some.template operator()<L.tile.pixels_left>(first);
    }
  }

 private:
  static constexpr int V = lanes(I), C = L.tile.vectors, columns_left = L.columns % C;
  static constexpr long row_step = L.in_place ? m_loops.step(&loop::a) : L.row_stride,
                        column_step = n_loops.step(&loop::b);
  /// Columns of the next panel that are prefetched by a tile, so that tiles of a block prefetch all.
  static constexpr int tiles = (L.row_block + L.tile.pixels - 1) / L.tile.pixels,
                       fetched = L.fetches_columns ? (C + tiles - 1) / tiles : 0;

  /// Floats of the sums of four columns.
  static constexpr long group = long(L.row_block) * V;

  template <int COLUMNS>
  [[gnu::noinline]] static void panel(work const& given, int column) {
    work w = given;
    float const* const next = w.b + (column + COLUMNS < L.columns ? (column + COLUMNS) * column_step : L.k_block);
    w.b += column * column_step;
    w.sums += column / 4 * group;
    int first = 0;
    AGO_UNROLL(1)
    for (int t = 0; first + L.tile.pixels <= w.rows; first += L.tile.pixels, t += fetched)
      tile<L.tile.pixels, COLUMNS>(w, first, next + (t < C ? t : 0) * column_step);
    if constexpr (L.tile.pixels_left > 0)
      if (first < w.rows) tile<L.tile.pixels_left, COLUMNS>(w, first, next);
  }

  template <int ROWS, int COLUMNS>
  AGO_INLINE static void tile(work const& w, int first, [[maybe_unused]] float const* next) {
    vec<I> acc[ROWS][COLUMNS];
    for_each_register<I>(acc, [](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = vec<I>(0.f); });
    float const *a = w.a + first * row_step, *b = w.b;
    auto const whole = [](float const* p) AGO_INLINE_LAMBDA { return vec<I>::load(p); };
    int k = 0;
    AGO_UNROLL(1)
    for (; k + V <= w.steps; k += V, a += V, b += V) {
      add(a, b, acc, whole);
      AGO_UNROLL(8)
      for (int f = 0; f < fetched; ++f) __builtin_prefetch(next + f * column_step + k, 0, 2);
    }
    if constexpr (L.depth % V > 0)
      if (int const left = w.steps - k; left > 0)
        add(a, b, acc, [&](float const* p) AGO_INLINE_LAMBDA { return vec<I>::load(p, left); });
    float* const sums = w.sums + first * V;
    AGO_UNROLL(8)
    for (int r = 0; r < ROWS; ++r) {
      AGO_UNROLL(2)
      for (int c = 0; c < COLUMNS; c += 4) {
        float* const to = sums + c / 4 * group + r * V;
        vec<I> const zero(0.f);
        vec<I> x = sums_of_four(acc[r][c], c + 1 < COLUMNS ? acc[r][c + 1] : zero,
                                c + 2 < COLUMNS ? acc[r][c + 2] : zero, c + 3 < COLUMNS ? acc[r][c + 3] : zero);
        if (!w.begins) x = x + vec<I>::load(to);
        x.store(to);
      }
    }
  }

  /// Adds the products of a register of steps.
  template <int ROWS, int COLUMNS>
  AGO_INLINE static void add(float const* a, float const* b, vec<I> (&acc)[ROWS][COLUMNS], auto const& load) {
    vec<I> row[ROWS];
    AGO_UNROLL(4)
    for (int r = 0; r < ROWS; ++r) {
      row[r] = load(a + r * row_step);
      keep(row[r]);
    }
    AGO_UNROLL(8)
    for (int c = 0; c < COLUMNS; ++c) {
      vec<I> column = load(b + c * column_step);
      keep(column);
      AGO_UNROLL(4)
      for (int r = 0; r < ROWS; ++r) acc[r][c] = fma(row[r], column, acc[r][c]);
    }
  }

  /// The sum of every four lanes of four registers: a b c d a b c d ...
  AGO_INLINE static vec<I> sums_of_four(vec<I> a, vec<I> b, vec<I> c, vec<I> d) {
    vec<I> const a_c = zip_lo(a, c) + zip_hi(a, c), b_d = zip_lo(b, d) + zip_hi(b, d);
    return zip_lo(a_c, b_d) + zip_hi(a_c, b_d);
  }

  /// The sums of `count` columns, at most V.
  AGO_INLINE static vec<I> totals(float const* sums, int count) {
    constexpr isa Q = isa_of_four(I);
    float all[V]{};
    AGO_UNROLL(1)
    for (int i = 0; i < count; i += 4) {
      float const* const parts = sums + i / 4 * group;
      vec<Q> x = vec<Q>::load(parts);
      AGO_UNROLL(4)
      for (int j = 4; j < V; j += 4) x = x + vec<Q>::load(parts + j);
      x.store(all + i);
    }
    return vec<I>::load(all);
  }
};

}  // namespace ago::kernel
