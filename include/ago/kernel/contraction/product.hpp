// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of two elements, as matrix products whose rows and columns are scattered.
#pragma once

#include <ago/kernel/contraction/accumulate.hpp>
#include <ago/kernel/contraction/batches.hpp>
#include <ago/kernel/contraction/copies.hpp>
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

/// The memory of a product: the factors, of which the known one is packed, the result, and scratch.
struct contraction_memory {
  float const* rows;
  float const* columns;
  float* result;
  float* scratch;
};

/// C[m, n] = scale * sum over k of A[m, k] * B[k, n] for each batch, of the layout L.
template <contraction_layout const& L, isa I, loop_form FORM, class After>
class contraction_product {
 public:
  /// Computes rows first ... last - 1, counted through all batches; they begin and end at multiples of L.granule(), or
  /// at the end. `e`: for the padding. `made`: computes elements of the factor that L makes.
  static void run(expression::index_expression const& e, contraction_memory m, After const& after, auto const& made,
                  int first, int last) {
    auto const& copy_rows = choose<L.makes_rows>(made);
    auto const& copy_columns = choose<L.makes_columns>(made);
    if constexpr (L.rows_padded && L.rows_window == 0)
      pad(e, L.form.a, m.rows, m.scratch + L.padded_rows_at(), copy_rows);
    if constexpr (L.columns_padded && L.columns_window == 0)
      pad(e, L.form.b, m.columns, m.scratch + L.padded_columns_at(), copy_columns);
    if constexpr (L.makes == making::all) {
      float* const to = m.scratch + L.made_at();
      made(L.makes_rows ? m.rows : m.columns, to, L.made_floats);
      if constexpr (L.makes_rows) m.rows = to;
      if constexpr (L.makes_columns) m.columns = to;
    }
    if constexpr (L.columns_last > 0) {
      float* const turned = m.scratch + L.turned_columns_at();
      long const others = L.form.b.padded.count() / L.columns_last;
      transpose<I>(m.columns, L.columns_last, turned, others, L.columns_last, others);
      m.columns = turned;
    }
    if constexpr (L.lanes_are_batches)
      return product_of_batches<L, I, After>::run(e, m.rows, m.columns, m.result, m.scratch, after, copy_rows,
                                                  copy_columns, first / L.rows, last / L.rows);
    else in_batches(m, after, made, first, last);
  }

 private:
  template <bool Makes, class Made>
  static auto const& choose(Made const& made) {
    if constexpr (Makes) return made;
    else return plain;
  }
  static constexpr plain_copy<I> plain{};

  static void in_batches(contraction_memory const& m, After const& after, auto const& made, int first, int last) {
    for (int z = first / L.rows; long(z) * L.rows < last; ++z) {
      int const begin = z * L.rows, from = first > begin ? first - begin : 0;
      int const end = last - begin < L.rows ? last - begin : L.rows;
      batch now{m.rows, m.columns, m.result, batch_loops.offset(z, &loop::c)};
      if constexpr (L.rows_known) now.a += z * L.row_floats();
      else now.a += L.form.a.start + batch_loops.offset(z, &loop::a);
      if constexpr (L.columns_known) {
        now.b += z * L.column_floats();
      } else if constexpr (L.columns_in_place) {
        now.b += L.form.b.start + batch_loops.offset(z, &loop::b);
      } else if constexpr (L.packs_by_panel) {
        now.b += L.form.b.start + batch_loops.offset(z, &loop::b);
      } else {
        float* const packed = m.scratch + L.packed_columns_at();
        contraction_copies<L, I>::columns(now.b + L.form.b.start + batch_loops.offset(z, &loop::b), packed);
        now.b = packed;
      }
      rows(now, m.scratch, after, made, from, end);
    }
  }

  using loop = expression::matrix_loop;
  static constexpr int V = lanes(I);
  static constexpr expression::matrix_loops batch_loops = L.form.batch, m_loops = L.form.m, n_loops = L.form.n,
                                            k_loops = L.form.k;
  /// Consecutive columns that are consecutive in the result.
  static constexpr int c_run = int(run_of(n_loops, &loop::c));
  /// Columns are scattered one by one, and rows are consecutive.
  static constexpr bool can_turn = c_run == 1 && V >= 4 && run_of(m_loops, &loop::c) >= 4;
  static constexpr bool can_be_direct = !After::is_lengthy && (c_run % V == 0 || c_run == L.columns);

  struct batch {
    float const* a;
    float const* b;
    float* c;
    long start;  ///< in the result
  };
  /// A place in the result; with an epilogue, its pixel and channel.
  struct spot {
    int at, pixel, channel;
  };
  /// Columns that are stored together: from, and how many.
  struct piece {
    spot to;
    int from, size;
  };
  /// What a panel of a block of rows works on.
  struct work {
    float const* a;
    long a_stride;
    int const *starts, *steps;  ///< of rows and of K, if it walks
    int rows, depth;
    float const* b;
    float* c;
    spot const* row;
    int column;         ///< the first
    float* sums;        ///< of the blocks of K before, if there are several
    float const* next;  ///< the columns of the next panel
    bool begins, ends;
  };

  static void pad(expression::index_expression const& e, expression::matrix_operand const& o, float const*& from,
                  float* to, auto const& copy) {
    copy_with_padding<I>(e.operands[o.operand], o, e.body.accesses[o.access].pad(), from, to, 0, copy);
    from = to;
  }
  AGO_INLINE static spot spot_at(After const& after, long place) {
    if constexpr (After::is_empty) return {int(place), 0, 0};
    else return {int(place), int(place) / after.channels, int(place) % after.channels};
  }

  static void rows(batch now, float* scratch, After const& after, auto const& made, int from, int end) {
    int starts[L.row_block], steps[L.walks ? L.k_block : 1];
    spot row[L.row_block];
    for (int first = from; first < end; first += L.row_block) {
      int const count = end - first < L.row_block ? end - first : L.row_block;
      AGO_UNROLL(1)
      for (int r = 0; r < count; ++r) {
        starts[r] = int(m_loops.offset(first + r, &loop::a));
        row[r] = spot_at(after, now.start + m_loops.offset(first + r, &loop::c));
      }
      [[maybe_unused]] float const* const source = L.makes_rows ? now.a : now.b;
      for (int b = 0; b < L.k_blocks(); ++b) {
        if constexpr (L.makes == making::blocks) {
          float* const block = scratch + L.made_at();
          long const at = long(b) * L.k_block * L.made_step;
          made(source + at, block, L.steps_in(b) * L.made_step);
          (L.makes_rows ? now.a : now.b) = block - at;
        }
        work w{nullptr, L.row_stride, starts, steps,   count,   L.steps_in(b), now.b,
               now.c,   row,          0,      nullptr, nullptr, b == 0,        b + 1 == L.k_blocks()};
        if constexpr (L.k_blocks() > 1) w.sums = scratch + L.sums_at();
        if constexpr (L.rows_known) {
          w.a = now.a + (long(b) * L.rows + first) * L.row_stride;
        } else if constexpr (L.walks) {
          w.a = now.a;
          if (first == from || L.k_blocks() > 1)
            for (int k = 0; k < w.depth; ++k) steps[k] = int(k_loops.offset(b * L.k_block + k, &loop::a));
        } else if constexpr (L.outer) {
          w.a = now.a + starts[0] + long(b) * L.k_block * a_step;
          w.a_stride = 1;
        } else if constexpr (L.in_place) {
          w.a = now.a + starts[0] + long(b) * L.k_block;
          w.a_stride = m_loops.step(&loop::a);
        } else {
          float* const copies = scratch + L.copied_rows_at();
          contraction_copies<L, I>::rows(now.a, starts, count, b * L.k_block, b * L.k_block + w.depth, copies);
          w.a = copies;
        }
        panels(w, now.b, scratch + L.packed_columns_at(), after, b);
      }
    }
  }

  /// Floats from one step of K to the next of rows of outer products, and of columns in place.
  static constexpr long a_step = k_loops.step(&loop::a), b_step = k_loops.step(&loop::b);
  static constexpr long column_place(int block, int column) {
    return L.columns_in_place ? long(block) * L.k_block * b_step + column : L.panel_offset(block, column);
  }

  /// `packed`: where a panel is packed, if that is done one by one.
  AGO_INLINE static void panels(work& w, float const* b, float* packed, After const& after, int block) {
    constexpr int whole = L.vectors / L.tile.vectors * L.panel();
    constexpr bool partial = L.columns % V != 0;
    constexpr int full = partial && L.tile.vectors_left == 0 ? whole - L.panel() : whole;
    auto const compute = [&]<int VECTORS, bool PARTIAL>(int column) {
      w.column = column;
      if constexpr (L.packs_by_panel) {
        using copies = contraction_copies<L, I>;
        copies::template panel<VECTORS * V>(b, block, column, packed);
        w.b = packed;
        if constexpr (copies::template product_fetches<VECTORS * V>)
          w.next = copies::template next_panel<VECTORS * V>(b, block, column);
      } else {
        w.b = b + column_place(block, column);
      }
      panel<VECTORS, PARTIAL>(w, after);
    };
    for (int column = 0; column < full; column += L.panel()) compute.template operator()<L.tile.vectors, false>(column);
    if constexpr (full < whole) compute.template operator()<L.tile.vectors, true>(full);
    if constexpr (L.tile.vectors_left > 0) compute.template operator()<L.tile.vectors_left, partial>(whole);
  }

  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(work const& given, After const& after) {
    constexpr int width = VECTORS * V;
    work const w = given;
    int size = c_run;
    if constexpr (!After::is_empty) size = after.channels < c_run ? after.channels : c_run;
    bool const direct = can_be_direct && (size % V == 0 || size >= L.columns);
    int const valid = PARTIAL ? L.columns - w.column : width;
    piece pieces[width]{};
    int count = 0;
    if (w.ends)
      for (int n = 0, many; n < valid; n += many) {
        many = direct ? V : size - (w.column + n) % size;
        if (many > valid - n) many = valid - n;
        pieces[count++] = {spot_at(after, n_loops.offset(w.column + n, &loop::c)), n, many};
      }
    [[maybe_unused]] int line = 0;  // of the next panel
    auto const tile = [&]<int PIXELS>(int first) AGO_INLINE_LAMBDA {
      vec<I> acc[PIXELS][VECTORS];
      [[maybe_unused]] float* const sums = w.sums + long(first) * L.padded_columns() + long(w.column) * PIXELS;
      if (L.k_blocks() == 1 || w.begins) each(acc, [](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = vec<I>(0.f); });
      else if constexpr (L.k_blocks() > 1)
        each(acc, [&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x = vec<I>::load(sums + (r * VECTORS + v) * V); });
      if constexpr (can_be_direct && L.fetches_result)
        if (w.ends && direct) fetch_result<PIXELS, VECTORS>(w.c, w.row + first, pieces);
      constexpr int last = PARTIAL ? (L.columns - 1) % V + 1 : V;
      float const* const a = w.a + (L.walks ? 0 : first * w.a_stride);
      if constexpr (L.columns_in_place)
        accumulate_in_place<I, last>(a, L.outer ? 1 : w.a_stride, L.outer ? a_step : 1, w.depth, w.b, b_step, acc);
      else if constexpr (contraction_copies<L, I>::template product_fetches<VECTORS * V>)
        accumulate_and_fetch(w, a, first, line, acc);
      else if constexpr (L.walks) accumulate_at<FORM>(a, w.starts + first, w.steps, w.depth, w.b, acc);
      else accumulate<FORM>(a, w.a_stride, w.depth, w.b, acc);
      if constexpr (L.k_blocks() > 1)
        if (!w.ends)
          return each(acc, [&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x.store(sums + (r * VECTORS + v) * V); });
      if constexpr (L.form.scale != 1)
        each(acc, [](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = x * vec<I>(L.form.scale); });
      spot const* const row = w.row + first;
      if constexpr (can_be_direct)
        if (After::is_empty || direct) {
          store<PARTIAL>(after, acc, row, pieces, w.c);
          return;
        }
      if constexpr (!can_be_direct || !After::is_empty) {
        float results[PIXELS * width];
        each(acc, [&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x.store(results + (r * VECTORS + v) * V); });
        if constexpr (can_turn && PIXELS >= 4)
          if (row[PIXELS - 1].at == row[0].at + PIXELS - 1 && is_one_pixel(after, row[0], PIXELS))
            return scatter_turned<PIXELS>(after, results, width, row[0], pieces, count, w.c);
        scatter(after, results, PIXELS, width, row, pieces, count, w.c);
      }
    };
    int first = 0;
    AGO_UNROLL(1)
    for (; first + L.tile.pixels <= w.rows; first += L.tile.pixels) tile.template operator()<L.tile.pixels>(first);
    if constexpr (L.tile.pixels_left > 0)
      if (first < w.rows) tile.template operator()<L.tile.pixels_left>(first);
  }

  /// accumulate(), which prefetches a line of the next panel with every step.
  template <int PIXELS, int VECTORS>
  AGO_INLINE static void accumulate_and_fetch(work const& w, float const* a, int first, int& line,
                                              vec<I> (&acc)[PIXELS][VECTORS]) {
    using copies = contraction_copies<L, I>;
    constexpr loop_form form{true, FORM.in_order, true};
    constexpr int rows = copies::template lines_apart<VECTORS * V>;
    constexpr int lines = copies::template panel_lines<VECTORS * V> / rows;
    AGO_UNROLL(1)
    for (int k = 0; k < w.depth; k += rows) {
      int const steps = w.depth - k < rows ? w.depth - k : rows;
      float const* const next = w.next + line * line_floats;
      if constexpr (L.walks)
        accumulate_at<form>(a, w.starts + first, w.steps + k, steps, w.b + long(k) * VECTORS * V, acc, next,
                            copies::line_step);
      else accumulate<form>(a + k, w.a_stride, steps, w.b + long(k) * VECTORS * V, acc, next, copies::line_step);
      line += line + 1 < lines;
    }
  }

  template <int PIXELS, int VECTORS, class F>
  AGO_INLINE static void each(vec<I> (&acc)[PIXELS][VECTORS], F f) {
    AGO_UNROLL(32)
    for (int r = 0; r < PIXELS; ++r) {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) f(acc[r][v], r, v);
    }
  }

  template <int PIXELS, int VECTORS>
  AGO_INLINE static void fetch_result(float* c, spot const* row, piece const* pieces) {
    AGO_UNROLL(1)
    for (int r = 0; r < PIXELS; ++r) {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) __builtin_prefetch(c + row[r].at + pieces[v].to.at, 1);
    }
  }
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
        if constexpr (After::is_empty && V % c_run == 0) {
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
