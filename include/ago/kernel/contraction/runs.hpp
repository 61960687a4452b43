// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of outer products whose rows or columns are several runs in memory, as those of a convolution's weights are in
// their gradient: for every pixel a run for each row of its window, and one of what windows have made of it. All are
// read where they are: packing them would take as many copies of each pixel as its windows have rows and columns.
#pragma once

#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/contraction/results.hpp>

namespace ago::kernel {

/// C[m, n] = scale * sum over k of A[m, k] * B[k, n] of the layout L, whose rows and columns are runs. Each run of
/// columns has registers of its own, the last of which may have fewer lanes; rows of a tile are of one run.
template <contraction_layout const& L, isa I, class After>
class product_by_runs {
  using loop = expression::matrix_loop;
  static constexpr int V = lanes(I), in_run = (L.column_run + V - 1) / V, last = L.column_run - (in_run - 1) * V;
  using results = contraction_results<L, I, After, last == V>;
  using spot = typename results::spot;
  using columns_of_register = typename results::template pieces_of_panel<V>;
  static constexpr expression::matrix_loops m_loops = L.form.m, n_loops = L.form.n, k_loops = L.form.k;

 public:
  /// Rows first ... end - 1.
  static void run(float const* a, float const* b, float* c, float* scratch, After const& after, int first, int end) {
    int of_a[lines_in_block], of_b[lines_in_block];
    for (int block = 0; block < L.k_blocks(); ++block) {
      int const k = block * L.k_block, count = L.steps_in(block) / L.k_line;
      for (int i = 0; i < count; ++i) {
        of_a[i] = int(k_loops.offset(k + i * L.k_line, &loop::a));
        of_b[i] = int(k_loops.offset(k + i * L.k_line, &loop::b));
      }
      work const w{
          a + L.form.a.start, b + L.form.b.start,       of_a, of_b, count, c, scratch + L.sums_at(), first, end,
          block == 0,         block + 1 == L.k_blocks()};
      constexpr int whole = L.vectors - L.tile.vectors_left;
      for (int v = 0; v < whole; v += L.tile.vectors) panel<L.tile.vectors>(w, after, v);
      if constexpr (L.tile.vectors_left > 0) panel<L.tile.vectors_left>(w, after, whole);
    }
  }

 private:
  static constexpr int lines_in_block = L.k_block / L.k_line;
  static constexpr long a_step = k_loops.step(&loop::a), b_step = k_loops.step(&loop::b);

  /// What a block of K is: lines of steps that are equally spaced in both factors. `begins`, `ends`: the first, and the
  /// last block.
  struct work {
    float const *a, *b;
    int const *of_a, *of_b;
    int lines;
    float *c, *sums;
    int first, end;
    bool begins, ends;
  };

  /// The column of the first lane of a register, and its valid lanes.
  static constexpr int column_of(int v) { return v / in_run * L.column_run + v % in_run * V; }
  static constexpr int valid_of(int v) { return v % in_run == in_run - 1 ? last : V; }

  /// Registers v, v + 1, ... of all rows.
  template <int VECTORS>
  [[gnu::noinline]] static void panel(work const& w, After const& after, int v) {
    static_assert(last == V || VECTORS % in_run == 0, "a tile begins with a run, if these end with parts of registers");
    long at[VECTORS];
    columns_of_register columns[VECTORS];
    for (int i = 0; i < VECTORS; ++i) {
      at[i] = n_loops.offset(column_of(v + i), &loop::b);
      if (w.ends) columns[i] = results::template pieces<V>(after, column_of(v + i), valid_of(v + i));
    }
    int row = w.first;
    AGO_UNROLL(1)
    for (; row + L.tile.pixels <= w.end; row += L.tile.pixels)
      tile<L.tile.pixels>(w, after, row, at, columns, w.sums + (row * L.vectors + v * L.tile.pixels) * V);
    if constexpr (L.tile.pixels_left > 0)
      if (row < w.end)
        tile<L.tile.pixels_left>(w, after, row, at, columns, w.sums + (row * L.vectors + v * L.tile.pixels_left) * V);
  }

  template <int PIXELS, int VECTORS>
  AGO_INLINE static void tile(work const& w, After const& after, int row, long const (&at)[VECTORS],
                              columns_of_register const (&columns)[VECTORS], float* sums) {
    vec<I> acc[PIXELS][VECTORS];
    auto const each = [&](auto f) AGO_INLINE_LAMBDA { for_each_register<I>(acc, f); };
    if (L.k_blocks() == 1 || w.begins) each([](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = vec<I>(0.f); });
    else each([&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x = vec<I>::load(sums + (r * VECTORS + v) * V); });
    float const* const a = w.a + m_loops.offset(row, &loop::a);
    AGO_UNROLL(1)
    for (int i = 0; i < w.lines; ++i) add_line(a + w.of_a[i], w.b + w.of_b[i], at, acc);
    if (L.k_blocks() > 1 && !w.ends)
      return each([&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x.store(sums + (r * VECTORS + v) * V); });
    if constexpr (L.form.scale != 1) each([](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = x * vec<I>(L.form.scale); });
    spot spots[PIXELS];
    for (int r = 0; r < PIXELS; ++r) spots[r] = results::spot_at(after, m_loops.offset(row + r, &loop::c));
    AGO_UNROLL(8)
    for (int v = 0; v < VECTORS; ++v) {
      vec<I> some[PIXELS][1];
      AGO_UNROLL(32)
      for (int r = 0; r < PIXELS; ++r) some[r][0] = acc[r][v];
      results::template put<last != V>(after, some, spots, columns[v], w.c);
    }
  }

  /// Adds the products of a line of steps.
  template <int PIXELS, int VECTORS>
  AGO_INLINE static void add_line(float const* a, float const* b, long const (&at)[VECTORS],
                                  vec<I> (&acc)[PIXELS][VECTORS]) {
    AGO_UNROLL(1)
    for (int k = 0; k < L.k_line; ++k, a += a_step, b += b_step) {
      vec<I> column[VECTORS];
      AGO_UNROLL(8)
      for (int v = 0; v < VECTORS; ++v)
        column[v] = valid_of(v) == V || last == V ? vec<I>::load(b + at[v]) : vec<I>::load(b + at[v], last);
      AGO_UNROLL(32)
      for (int p = 0; p < PIXELS; ++p) {
        vec<I> const x(a[p]);
        AGO_UNROLL(8)
        for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(x, column[v], acc[p][v]);
      }
    }
  }
};

}  // namespace ago::kernel
