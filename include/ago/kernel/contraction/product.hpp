// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of two elements, as matrix products whose rows and columns are scattered.
#pragma once

#include <ago/kernel/contraction/accumulate.hpp>
#include <ago/kernel/contraction/batches.hpp>
#include <ago/kernel/contraction/copies.hpp>
#include <ago/kernel/contraction/meanwhile.hpp>
#include <ago/kernel/contraction/results.hpp>
#include <ago/kernel/contraction/runs.hpp>
#include <ago/kernel/contraction/steps.hpp>

namespace ago::kernel {

/// The memory of a product: the factors, of which the known one is packed, the result, and scratch.
struct contraction_memory {
  float const* rows;
  float const* columns;
  float* result;
  float* scratch;
};

/// C[m, n] = scale * sum over k of A[m, k] * B[k, n] for each batch, of the layout L.
/// `Fetches`: see meanwhile.
template <contraction_layout const& L, isa I, loop_form FORM, class After, bool Fetches = false>
class contraction_product {
 public:
  /// Computes rows first ... last - 1, counted through all batches; they begin and end at multiples of L.granule(), or
  /// at the end. `e`: for the padding. `made`: computes elements of the factor that L makes. `beside`: what to do when
  /// some rows are there.
  static void run(expression::index_expression const& e, contraction_memory m, After const& after, auto const& made,
                  int first, int last, auto const& beside) {
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
    if constexpr (L.rows_last > 0) turn(L.form.a, L.rows_last, m.rows, m.scratch + L.turned_rows_at());
    if constexpr (L.columns_last > 0) turn(L.form.b, L.columns_last, m.columns, m.scratch + L.turned_columns_at());
    if constexpr (L.lanes_are_batches)
      return product_of_batches<L, I, After, Fetches>::run(e, m.rows, m.columns, m.result, m.scratch, after, copy_rows,
                                                           copy_columns, first / L.rows, last / L.rows, beside);
    else if constexpr (L.by_runs)
      product_by_runs<L, I, After>::run(m.rows, m.columns, m.result, m.scratch, after, first, last);
    else in_batches(m, after, made, first, last, beside);
  }

 private:
  template <bool Makes, class Made>
  static auto const& choose(Made const& made) {
    if constexpr (Makes) return made;
    else return plain;
  }
  static constexpr plain_copy<I> plain{};

  static void in_batches(contraction_memory const& m, After const& after, auto const& made, int first, int last,
                         auto const& beside) {
    for (int z = first / L.rows; long(z) * L.rows < last; ++z) {
      int const begin = z * L.rows, from = first > begin ? first - begin : 0;
      int const end = last - begin < L.rows ? last - begin : L.rows;
      batch now{m.rows, m.columns, m.result, batch_loops.offset(z, &loop::c)};
      if constexpr (L.rows_known) now.a += z * L.row_floats();
      else now.a += L.form.a.start + batch_loops.offset(z, &loop::a);
      if constexpr (L.columns_known) {
        now.b += z * L.column_floats();
      } else if constexpr (L.columns_in_place || L.lanes_are_steps) {
        now.b += L.form.b.start + batch_loops.offset(z, &loop::b);
      } else if constexpr (L.packs_by_panel) {
        now.b += L.form.b.start + batch_loops.offset(z, &loop::b);
      } else {
        float* const packed = m.scratch + L.packed_columns_at();
        copies::columns(now.b + L.form.b.start + batch_loops.offset(z, &loop::b), packed);
        now.b = packed;
      }
      rows(now, m.scratch, after, made, from, end, beside);
    }
  }

  using loop = expression::matrix_loop;
  static constexpr int V = lanes(I);
  static constexpr expression::matrix_loops batch_loops = L.form.batch, m_loops = L.form.m, n_loops = L.form.n,
                                            k_loops = L.form.k;
  using copies = contraction_copies<L, I>;
  using results = contraction_results<L, I, After>;
  using spot = typename results::spot;
  template <int VECTORS>
  using places = typename results::template panel_places<VECTORS>;
  struct batch {
    float const* a;
    float const* b;
    float* c;
    long start;  ///< in the result
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
    float const* source = nullptr;  ///< of a panel that its first tile packs
    float* packed = nullptr;        ///< to there, which is `b`
    float const* other = nullptr;   ///< see meanwhile
    float const* unmade = nullptr;  ///< what the next block of K is made of
  };

  static void pad(expression::index_expression const& e, expression::matrix_operand const& o, float const*& from,
                  float* to, auto const& copy) {
    copy_with_padding<I>(e.operands[o.operand], o, e.body.accesses[o.access].pad(), from, to, 0, copy);
    from = to;
  }
  /// Copies an operand with its last extent in front.
  static void turn(expression::matrix_operand const& o, int last, float const*& from, float* to) {
    long const others = o.padded.count() / last;
    transpose<I>(from, last, to, others, last, others);
    from = to;
  }

  /// The offsets of steps first, first + 1, ... of K in rows.
  static void offsets(int first, int count, int* to) {
    for_each_run_of_steps<k_loops, &loop::a>(first, count,
                                             [&](long place, long step, int i, int end) AGO_INLINE_LAMBDA {
                                               AGO_UNROLL(1)
                                               for (; i < end; ++i, place += step) to[i] = int(place);
                                             });
  }

  static void rows(batch now, float* scratch, After const& after, auto const& made, int from, int end,
                   auto const& beside) {
    int starts[L.row_block], steps[L.walks ? L.k_block : 1];
    spot row[L.row_block];
    int const block = L.rows_at_once(beside.rows);
    for (int first = from; first < end; first += block) {
      int const count = end - first < block ? end - first : block;
      AGO_UNROLL(1)
      for (int r = 0; r < count; ++r) {
        starts[r] = int(m_loops.offset(first + r, &loop::a));
        row[r] = results::spot_at(after, now.start + m_loops.offset(first + r, &loop::c));
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
        if constexpr (L.k_blocks() > 1 || L.lanes_are_steps) w.sums = scratch + L.sums_at();
        if constexpr (Fetches) w.other = beside.other;
        if constexpr (L.makes == making::blocks) w.unmade = source + (b + 1L) * L.k_block * L.made_step;
        if constexpr (L.rows_known) {
          w.a = now.a + (long(b) * L.rows + first) * L.row_stride;
        } else if constexpr (L.walks) {
          w.a = now.a;
          if (first == from || L.k_blocks() > 1) offsets(b * L.k_block, w.depth, steps);
        } else if constexpr (L.outer) {
          w.a = now.a + starts[0] + long(b) * L.k_block * a_step;
          w.a_stride = 1;
        } else if constexpr (L.in_place) {
          w.a = now.a + starts[0] + long(b) * L.k_block;
          w.a_stride = m_loops.step(&loop::a);
        } else {
          float* const copies = scratch + L.copied_rows_at();
          copies::rows(now.a, starts, count, b * L.k_block, b * L.k_block + w.depth, copies);
          w.a = copies;
        }
        if constexpr (L.lanes_are_steps) {
          using by_steps = product_by_steps<L, I, After>;
          by_steps::add_block({w.a, now.b + long(b) * L.k_block, w.sums, count, w.depth, w.begins});
          if (w.ends) by_steps::finish(w.sums, row, count, w.c, after);
        } else {
          panels(w, now.b, scratch + L.packed_columns_at(), after, b);
        }
      }
      now.c = beside(first + count, now.c);
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
        w.b = packed;
        w.packed = packed;
        bool const in_tile = multiplies_source<VECTORS, PARTIAL> && (is_read_by_few || w.rows >= L.tile.pixels);
        w.source = in_tile ? b + copies::line_step * block * L.k_block + column : nullptr;
        if (!in_tile) copies::template panel<VECTORS * V>(b, block, column, packed);
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

  /// Of loops that prefetch the next panel, a line with every step.
  static constexpr loop_form panel_form{true, FORM.in_order, true};

  /// Are the next rows prefetched while PIXELS rows are read? As many as these with every step of K, the next tile's
  /// or, if that is nearer, those a page ahead.
  template <int PIXELS>
  static constexpr bool fetches_rows =
      L.fetches_rows && !L.outer && L.k_blocks() == 1 && PIXELS > 1 && PIXELS <= line_floats;
  template <int PIXELS>
  static constexpr long next_rows = [] {
    long const tile = long(L.depth) * PIXELS;
    return tile > page_floats ? tile : page_floats;
  }();
  static constexpr loop_form row_form{true, FORM.in_order};

  /// Can a panel be read where it is, as whole registers of rows of a matrix that a product before has prefetched?
  template <int VECTORS, bool PARTIAL>
  static constexpr bool multiplies_source =
      !PARTIAL && !L.walks && copies::are_rows && copies::template product_fetches<VECTORS * V>;
  /// Do all tiles read it there, from L2, as they are few? (Measured on Zen 5, 36 rows and 256 steps: 0.92 to 0.94 of
  /// the time; with twelve tiles of 64 steps 1.03.) Otherwise it is packed by its first tile, whose multiply-adds take
  /// longer than that.
  static constexpr bool is_read_by_few = L.row_block <= 8 * L.tile.pixels;

  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(work const& given, After const& after) {
    constexpr int width = VECTORS * V;
    work const w = given;
    constexpr int last = PARTIAL ? (L.columns - 1) % V + 1 : V;
    constexpr bool fetches_panel = copies::template product_fetches<width>;
    int const valid = PARTIAL ? L.columns - w.column : width;
    auto const columns = results::template pieces<width>(after, w.column, w.ends ? valid : 0);
    [[maybe_unused]] bool const fetches = w.ends && columns.direct;
    [[maybe_unused]] places<VECTORS> const here(w.c, w.column), next(w.c, w.column + width);
    [[maybe_unused]] places<VECTORS> const other(Fetches ? w.other : w.c, w.column);
    [[maybe_unused]] int line = 0;  // of the next panel
    auto const tile = [&]<int PIXELS, bool OF_SOURCE = false>(int first) AGO_INLINE_LAMBDA {
      vec<I> acc[PIXELS][VECTORS];
      [[maybe_unused]] float* const sums = w.sums + long(first) * L.padded_columns() + long(w.column) * PIXELS;
      auto const each = [&](auto f) AGO_INLINE_LAMBDA { for_each_register<I>(acc, f); };
      if (L.k_blocks() == 1 || w.begins) each([](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = vec<I>(0.f); });
      else if constexpr (L.k_blocks() > 1)
        each([&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x = vec<I>::load(sums + (r * VECTORS + v) * V); });
      if constexpr (fetches_panel && results::are_fetched)
        for (int r = 0; r < PIXELS && fetches; ++r) here.fetch(w.row[first + r]);
      if constexpr (Fetches)
        for (int r = 0; r < PIXELS && w.ends; ++r) other.template fetch<false>(w.row[first + r]);
      float const* const a = w.a + (L.walks ? 0 : first * w.a_stride);
      auto const add = [&](int k, int steps) AGO_INLINE_LAMBDA {
        if constexpr (L.columns_in_place) add_in_place<last>(w, a, first, k, steps, acc);
        else if constexpr (L.walks)
          accumulate_at<FORM>(a, w.starts + first, w.steps + k, steps, w.b + long(k) * width, acc);
        else if constexpr (fetches_rows<PIXELS>)
          accumulate<row_form>(a + k, w.a_stride, steps, w.b + long(k) * width, acc,
                               a + next_rows<PIXELS> + long(k) * PIXELS, PIXELS);
        else accumulate<FORM>(a + k, w.a_stride, steps, w.b + long(k) * width, acc);
      };
      if constexpr (OF_SOURCE) accumulate_source(w, a, line, acc);
      else if constexpr (fetches_panel) accumulate_and_fetch(w, a, first, line, acc);
      else if constexpr (results::are_fetched) add_and_fetch<PIXELS>(w, first, fetches, here, next, add);
      else add(0, w.depth);
      if constexpr (L.k_blocks() > 1)
        if (!w.ends)
          return each([&](vec<I>& x, int r, int v) AGO_INLINE_LAMBDA { x.store(sums + (r * VECTORS + v) * V); });
      if constexpr (L.form.scale != 1)
        each([](vec<I>& x, int, int) AGO_INLINE_LAMBDA { x = x * vec<I>(L.form.scale); });
      results::template put<PARTIAL>(after, acc, w.row + first, columns, w.c);
    };
    constexpr bool of_source = multiplies_source<VECTORS, PARTIAL> && is_read_by_few;
    int first = 0;
    if constexpr (multiplies_source<VECTORS, PARTIAL> && !is_read_by_few)
      if (w.source) {
        tile.template operator()<L.tile.pixels, true>(0);
        first = L.tile.pixels;
      }
    AGO_UNROLL(1)
    for (; first + L.tile.pixels <= w.rows; first += L.tile.pixels)
      tile.template operator()<L.tile.pixels, of_source>(first);
    if constexpr (L.tile.pixels_left > 0)
      if (first < w.rows) tile.template operator()<L.tile.pixels_left, of_source>(first);
  }

  /// Multiplies with the panel where it is, and packs it if others come. Prefetches a line of each row of the next one.
  template <int PIXELS, int VECTORS>
  AGO_INLINE static void accumulate_source(work const& w, float const* a, int& line, vec<I> (&acc)[PIXELS][VECTORS]) {
    float const* const next = w.next + line * line_floats;
    accumulate_in_place<I, V>(a, w.a_stride, 1, w.depth, w.source, copies::line_step, acc,
                              [&](int k, [[maybe_unused]] vec<I> const(&column)[VECTORS]) AGO_INLINE_LAMBDA {
                                if constexpr (!is_read_by_few) {
                                  AGO_UNROLL(32)
                                  for (int v = 0; v < VECTORS; ++v)
                                    column[v].store(w.packed + (long(k) * VECTORS + v) * V);
                                }
                                panel_form.fetch(next + k * copies::line_step);
                              });
    line += line + 1 < copies::template panel_lines<VECTORS * V> / copies::template lines_apart<VECTORS * V>;
  }

  /// Steps k ... of columns that are read where they are; the last register has VALID lanes.
  template <int VALID, int PIXELS, int VECTORS>
  AGO_INLINE static void add_in_place(work const& w, float const* a, int first, int k, int steps,
                                      vec<I> (&acc)[PIXELS][VECTORS]) {
    accumulate_in_place<I, VALID>(a + k * (L.outer ? a_step : 1), L.outer ? 1 : w.a_stride, L.outer ? a_step : 1, steps,
                                  w.b + k * b_step, b_step, acc,
                                  [&](int i, auto const&) AGO_INLINE_LAMBDA { fetch_next_block(w, first, k + i); });
  }

  /// Of outer products, a part of what the next block of K reads of the factors that are in no cache is prefetched with
  /// every step of a tile: as many floats of each step as there would be, if tiles divided them.
  AGO_INLINE static void fetch_next_block([[maybe_unused]] work const& w, [[maybe_unused]] int first,
                                          [[maybe_unused]] int k) {
    if constexpr (L.outer && (L.fetches_rows || L.fetches_columns)) {
      constexpr int down = (L.rows + L.tile.pixels - 1) / L.tile.pixels,
                    tiles = down * ((L.columns + L.panel() - 1) / L.panel());
      long const step = (w.column / L.panel() * down + first / L.tile.pixels) * long(L.k_block) + k;
      auto const fetch = [&]<int FLOATS>(float const* next) AGO_INLINE_LAMBDA {
        AGO_UNROLL(8)
        for (int f = 0; f < FLOATS; f += line_floats) panel_form.fetch(next + step * FLOATS + f);
      };
      if constexpr (L.fetches_rows)
        fetch.template operator()<(L.rows + tiles - 1) / tiles>(L.makes_rows ? w.unmade : w.a + L.k_block * a_step);
      float const* const columns = L.makes_columns ? w.unmade : w.b - w.column + L.k_block * b_step;
      if constexpr (L.fetches_columns) fetch.template operator()<(L.columns + tiles - 1) / tiles>(columns);
    }
  }

  /// accumulate(), which prefetches a line of the next panel with every step.
  template <int PIXELS, int VECTORS>
  AGO_INLINE static void accumulate_and_fetch(work const& w, float const* a, int first, int& line,
                                              vec<I> (&acc)[PIXELS][VECTORS]) {
    constexpr int rows = copies::template lines_apart<VECTORS * V>;
    constexpr int lines = copies::template panel_lines<VECTORS * V> / rows;
    AGO_UNROLL(1)
    for (int k = 0; k < w.depth; k += rows) {
      int const steps = w.depth - k < rows ? w.depth - k : rows;
      float const* const next = w.next + line * line_floats;
      if constexpr (L.walks)
        accumulate_at<panel_form>(a, w.starts + first, w.steps + k, steps, w.b + long(k) * VECTORS * V, acc, next,
                                  copies::line_step);
      else accumulate<panel_form>(a + k, w.a_stride, steps, w.b + long(k) * VECTORS * V, acc, next, copies::line_step);
      line += line + 1 < lines;
    }
  }

  /// add(k, steps) for all steps of K. Meanwhile the result of the next tile is prefetched, if `fetches`, eight lines
  /// after the other: that of a whole tile are more lines than a core waits for at a time, and many short loops take
  /// longer (measured on Zen 5, six rows of four lines and 36 steps: 1.05 times as long row by row).
  template <int PIXELS, int VECTORS>
  AGO_INLINE static void add_and_fetch(work const& w, int first, bool fetches, places<VECTORS> const& here,
                                       places<VECTORS> const& next_panel, auto const& add) {
    bool const below = first + PIXELS < w.rows;
    places<VECTORS> const& to = below ? here : next_panel;
    int row = below ? first + PIXELS : 0;
    int const end = !fetches ? row : row + PIXELS < w.rows ? row + PIXELS : w.rows;
    constexpr int each = VECTORS < 8 ? 8 / VECTORS : 1, pieces = (PIXELS + each - 1) / each;
    int const some = ((w.depth + pieces - 1) / pieces + 3) / 4 * 4;  // whole steps of loops that are scheduled by hand
    AGO_UNROLL(1)
    for (int k = 0; k < w.depth; k += some) {
      AGO_UNROLL(8)
      for (int i = 0; i < each; ++i)
        if (row < end) to.fetch(w.row[row++]);
      add(k, w.depth - k < some ? w.depth - k : some);
    }
    while (row < end) to.fetch(w.row[row++]);
  }
};

}  // namespace ago::kernel
