// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the results of products go: tiles of sums, whose rows and columns may be anywhere in the result, get their
// epilogue and are stored.
#pragma once

#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/epilogue.hpp>
#include <ago/simd/register_run.hpp>

namespace ago::kernel {

/// Nothing follows a product.
struct no_epilogue {
  static constexpr bool is_empty = true, is_lengthy = false;
};

/// The stages that follow a product. `channels`: those of a pixel of the result.
template <epilogue E, isa I>
struct contraction_epilogue {
  static constexpr bool is_empty = false, is_lengthy = ago::kernel::is_lengthy(E);
  finisher<E, I> const& all;
  int channels;
};

/// f(register, row, vector) for the registers of a tile.
template <isa I, int PIXELS, int VECTORS, class F>
AGO_INLINE void for_each_register(vec<I> (&acc)[PIXELS][VECTORS], F f) {
  AGO_UNROLL(32)
  for (int r = 0; r < PIXELS; ++r) {
    AGO_UNROLL(32)
    for (int v = 0; v < VECTORS; ++v) f(acc[r][v], r, v);
  }
}

/// The result of a product of the layout L. `Aligned`: do registers begin at multiples of their lanes, among the
/// columns?
template <contraction_layout const& L, isa I, class After, bool Aligned = true>
class contraction_results {
  using loop = expression::matrix_loop;
  static constexpr int V = lanes(I);
  static constexpr expression::matrix_loops m_loops = L.form.m, n_loops = L.form.n;
  /// Consecutive columns that are consecutive in the result.
  static constexpr int c_run = int(run_of(n_loops, &loop::c));
  /// Columns are scattered one by one, and rows are consecutive.
  static constexpr bool can_turn = c_run == 1 && V >= 4 && run_of(m_loops, &loop::c) >= 4;
  static constexpr bool can_be_direct =
      Aligned ? !After::is_lengthy && (c_run % V == 0 || c_run == L.columns) : After::is_empty && c_run == L.columns;

 public:
  /// A place in the result; with an epilogue, its pixel and channel.
  struct spot {
    int at, pixel, channel;
  };
  /// Columns that are stored together: from, and how many.
  struct piece {
    spot to;
    int from, size;
  };
  /// The columns of a panel of WIDTH ones. `direct`: each piece is a register, or the valid part of the last one.
  template <int WIDTH>
  struct pieces_of_panel {
    piece all[WIDTH]{};
    int count = 0;
    bool direct = false;
  };

  AGO_INLINE static spot spot_at(After const& after, long place) {
    if constexpr (After::is_empty) return {int(place), 0, 0};
    else return {int(place), int(place) / after.channels, int(place) % after.channels};
  }
  /// `valid`: how many columns there are from `column` on; 0: they are not stored yet.
  template <int WIDTH>
  AGO_INLINE static pieces_of_panel<WIDTH> pieces(After const& after, int column, int valid) {
    int size = c_run;
    if constexpr (!After::is_empty) size = after.channels < c_run ? after.channels : c_run;
    pieces_of_panel<WIDTH> r;
    r.direct = can_be_direct && (size % V == 0 || size >= L.columns);
    for (int n = 0, many; n < valid; n += many) {
      many = r.direct ? V : size - (column + n) % size;
      if (many > valid - n) many = valid - n;
      r.all[r.count++] = {spot_at(after, n_loops.offset(column + n, &loop::c)), n, many};
    }
    return r;
  }

  /// Are results prefetched, as they are in no cache, and stored directly?
  static constexpr bool are_fetched = can_be_direct && L.fetches_result;
  /// Where the registers of row 0 of a panel are.
  template <int VECTORS>
  struct panel_places {
    float const* at[VECTORS];
    panel_places(float const* c, int column) {
      for (int v = 0; v < VECTORS; ++v) at[v] = c + n_loops.offset((column + v * V) % L.columns, &loop::c);
    }
    /// To write it, or to read something into L2.
    template <bool WRITES = true>
    AGO_INLINE void fetch(spot const& row) const {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) __builtin_prefetch(at[v] + row.at, WRITES, WRITES ? 3 : 2);
    }
  };

  /// Finishes and stores a tile whose first row is `row`. PARTIAL: the last register may have fewer valid lanes.
  template <bool PARTIAL, int PIXELS, int VECTORS>
  AGO_INLINE static void put(After const& after, vec<I> (&acc)[PIXELS][VECTORS], spot const* row,
                             pieces_of_panel<VECTORS * V> const& columns, float* c) {
    constexpr int width = VECTORS * V;
    if constexpr (can_be_direct)
      if (After::is_empty || columns.direct) return store<PARTIAL>(after, acc, row, columns.all, c);
    if constexpr (!can_be_direct || !After::is_empty) {
      float results[PIXELS * width];
      for_each_register<I>(
          acc, [&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x.store(results + (r * VECTORS + v) * V); });
      if constexpr (can_turn && PIXELS >= 4)
        if (row[PIXELS - 1].at == row[0].at + PIXELS - 1 && is_one_pixel(after, row[0], PIXELS))
          return scatter_turned<PIXELS>(after, results, width, row[0], columns.all, columns.count, c);
      scatter(after, results, PIXELS, width, row, columns.all, columns.count, c);
    }
  }

 private:
  template <bool PARTIAL, int PIXELS, int VECTORS>
  AGO_INLINE static void store(After const& after, vec<I> (&acc)[PIXELS][VECTORS], spot const* row, piece const* pieces,
                               float* c) {
    auto const all = [&](auto const& finished) AGO_INLINE_LAMBDA {
      AGO_UNROLL(32)
      for (int r = 0; r < PIXELS; ++r) {
        AGO_UNROLL(32)
        for (int v = 0; v < VECTORS; ++v) {
          piece const& p = pieces[v];
          int const count = PARTIAL && v == VECTORS - 1 ? p.size : V;
          store_lanes(finished(acc[r][v], row[r], p.to, count), c + row[r].at + p.to.at, count);
        }
      }
    };
    if constexpr (After::is_empty) {
      all([](vec<I> x, spot const&, spot const&, int) AGO_INLINE_LAMBDA { return x; });
    } else {
      auto const now = after.all.here();
      all([&](vec<I> x, spot const& r, spot const& p, int count)
              AGO_INLINE_LAMBDA { return now(x, r.pixel + p.pixel, r.channel + p.channel, count); });
    }
  }

  AGO_INLINE static bool is_one_pixel(After const& after, spot const& first, int count) {
    if constexpr (After::is_empty) return true;
    else return first.channel + count <= after.channels;
  }
  /// Stores the results of ROWS rows that are consecutive in the result, column by column.
  template <int ROWS>
  [[gnu::noinline]] static void scatter_turned(After const& after, float const* results, int width, spot const& row,
                                               piece const* pieces, int count, float* c) {
    if constexpr (After::is_empty && n_loops.is_progression(&loop::c))
      return transpose<I>(results, width, c + row.at + pieces[0].to.at, n_loops.step(&loop::c), count, ROWS);
    constexpr int step = (ROWS + V - 1) / V * V;
    float turned[16 * V * step];
    transpose<I>(results, width, turned, step, count, ROWS);
    AGO_UNROLL(1)
    for (int i = 0; i < count; ++i) {
      float const* const from = turned + long(i) * step;
      spot const& to = pieces[i].to;
      float* const at = c + row.at + to.at;
      if constexpr (After::is_empty) {
        copy_exactly<I, ROWS, false>(from, at);
      } else {
        register_run<I>(ROWS).each([&](int j, int valid) AGO_INLINE_LAMBDA {
          vec<I> const x = load_lanes<I>(from + j, valid);
          store_lanes(after.all(x, row.pixel + to.pixel, row.channel + to.channel + j, valid), at + j, valid);
        });
      }
    }
  }

  [[gnu::noinline]] static void scatter(After const& after, float const* results, int rows, int width, spot const* row,
                                        piece const* pieces, int count, float* c) {
    AGO_UNROLL(1)
    for (int r = 0; r < rows; ++r, results += width) {
      float* const to = c + row[r].at;
      AGO_UNROLL(1)
      for (int i = 0; i < count; ++i) {
        piece const& p = pieces[i];
        if constexpr (After::is_empty && V % c_run == 0 && (Aligned || c_run == 1)) {
          copy_exactly<I, c_run, false>(results + p.from, to + p.to.at);
        } else if constexpr (After::is_empty) {
          copy_run<I>(results + p.from, to + p.to.at, p.size);
        } else {
          register_run<I>(p.size).each([&](int j, int valid) AGO_INLINE_LAMBDA {
            vec<I> const x = load_lanes<I>(results + p.from + j, valid);
            store_lanes(after.all(x, row[r].pixel + p.to.pixel, row[r].channel + p.to.channel + j, valid),
                        to + p.to.at + j, valid);
          });
        }
      }
    }
  }
};

}  // namespace ago::kernel
