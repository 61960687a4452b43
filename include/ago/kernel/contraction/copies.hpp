// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What sums of products copy: rows and columns.
#pragma once

#include <ago/kernel/contraction/layout.hpp>
#include <ago/kernel/contraction/padding.hpp>
#include <ago/kernel/movement/strided_copy.hpp>
#include <ago/simd/fetch.hpp>

namespace ago::kernel {

/// Copies COUNT floats. `Spills`: may write the rest of the last register.
template <isa I, int COUNT, bool Spills>
AGO_INLINE void copy_exactly(float const* from, float* to) {
  constexpr int V = lanes(I);
  constexpr isa Q = isa_of_four(I);
  if constexpr (COUNT >= V) {
    vec<I>::load(from).store(to);
    if constexpr (COUNT > V) copy_exactly<I, COUNT - V, Spills>(from + V, to + V);
  } else if constexpr (narrower(I) != I && (COUNT <= lanes(narrower(I)) || COUNT == 12 || !Spills)) {
    copy_exactly<narrower(I), COUNT, Spills>(from, to);  // stores that are longer than needed cross lines more often
  } else if constexpr (lanes(Q) == 4 && V > 4 && (COUNT <= 4 || !Spills)) {
    copy_exactly<Q, COUNT, Spills>(from, to);
  } else if constexpr (Spills && COUNT > 1) {
    vec<I>::load(from, COUNT).store(to);
  } else {
    AGO_UNROLL(4)
    for (int i = 0; i < COUNT; ++i) to[i] = from[i];
  }
}

/// Packs the parameter of a product from the user's weights, `from`, into layout.packed_floats() floats.
///
/// In blocks of rows or columns and of steps of the innermost loop, with all iterations of the outer loops, which may
/// be closer to each other in the weights: so each of their cache lines is read once.
template <isa I>
void pack_contraction(contraction_layout const& l, expression::index_expression const& e, float const* from,
                      float* to) {
  using loop = expression::matrix_loop;
  constexpr int most = 16;
  expression::matrix_operand const& o = l.rows_known ? l.form.a : l.form.b;
  bool const padded = o.is_padded(e.operands[o.operand]);
  padded_reader const element{e.operands[o.operand], o, e.body.accesses[o.access].pad(), from};
  for (long i = 0; i < l.packed_floats(); ++i) to[i] = 0;
  long loop::* const which = l.rows_known ? &loop::a : &loop::b;
  // Runs of batches, if these are neighbours in the packed parameter, or of steps of K in one block: for both, the
  // place of the first one tells those of the others.
  bool const turned = l.lanes_are_batches;
  expression::matrix_loops const &across = l.rows_known ? l.form.m : l.form.n,
                                 &along = turned ? l.form.batch : l.form.k, &others = turned ? l.form.k : l.form.batch;
  int const length = turned ? l.batches : l.depth, repeats = turned ? l.depth : l.batches;
  int const width = int(across.extent()), block = turned ? l.batches : l.k_block;
  int const panel = turned || l.rows_known ? width : l.panel();  // places of neighbours in it are equally spaced
  int const inner = along.count > 0 ? along.all[along.count - 1].extent : 1;
  long const step = along.count > 0 ? along.all[along.count - 1].*which : 0;
  auto const place_of = [&](int x, int i, int j) { return turned ? l.packed_place(j, i, x) : l.packed_place(x, i, j); };
  // Steps `first` ... of one iteration of the outer loops and one block of K.
  auto const copy = [&](int x, int i, int many, long const* sources, int first, int count) {
    long const place = place_of(x, i, first), start = o.start + others.offset(x, which) + along.offset(first, which);
    long const apart = count > 1 ? place_of(x, i, first + 1) - place : 0;
    long const next = many > 1 ? place_of(x, i + 1, first) - place : 0;
    if (!padded && many == most && next == 1) {
      for (int j = 0; j < count; ++j) {
        AGO_UNROLL(16)
        for (int c = 0; c < most; ++c) to[place + j * apart + c] = from[start + j * step + sources[c]];
      }
    } else {
      for (int j = 0; j < count; ++j)
        for (int c = 0; c < many; ++c) {
          long const source = start + sources[c] + j * step;
          to[place + c * next + j * apart] = padded ? element(source) : from[source];
        }
    }
  };
  for (int i = 0, many; i < width; i += many) {
    many = panel - i % panel < most ? panel - i % panel : most;
    if (many > width - i) many = width - i;
    long sources[most];
    for (int c = 0; c < many; ++c) sources[c] = across.offset(i + c, which);
    for (int x = 0; x < repeats; ++x)
      for (int begin = 0; begin < inner; begin += most)
        for (int outer = 0; outer < length; outer += inner) {
          int const end = outer + (inner - begin < most ? inner : begin + most);
          for (int first = outer + begin, last; first < end; first = last) {
            last = first + block - first % block;
            if (last > end) last = end;
            copy(x, i, many, sources, first, last - first);
          }
        }
  }
}

/// The loops over one factor alone: those that are one there are merged, wherever they are in the other one.
constexpr expression::matrix_loops loops_in(expression::matrix_loops loops, long expression::matrix_loop::* which) {
  for (int i = 0; i < loops.count; ++i) {
    long const step = loops.all[i].*which;
    loops.all[i] = {loops.all[i].extent, step, step, step};
  }
  return joined_loops(loops);
}

/// f(place, step, first, last) for steps begin + first ... begin + last - 1 of K that are `step` floats apart in a
/// factor, the first of them at `place`: those of `count`, in runs of the innermost loop.
template <expression::matrix_loops const& K, long expression::matrix_loop::* WHICH>
AGO_INLINE void for_each_run_of_steps(int begin, int count, auto const& f) {
  constexpr expression::matrix_loop inner = K.count > 0 ? K.all[K.count - 1] : expression::matrix_loop{};
  AGO_UNROLL(1)
  for (int i = 0, end; i < count; i = end) {
    end = i + inner.extent - (begin + i) % inner.extent;
    if (end > count) end = count;
    f(K.offset(begin + i, WHICH), inner.*WHICH, i, end);
  }
}

/// The copies of one product, whose layout is known to the compiler.
template <contraction_layout const& L, isa I>
struct contraction_copies {
  using loop = expression::matrix_loop;
  static constexpr expression::matrix_loops k = loops_in(L.form.k, &loop::b), n = loops_in(L.form.n, &loop::b);
  static constexpr int V = lanes(I);

  /// Columns are a matrix, whose rows or columns are consecutive floats.
  static constexpr bool is_matrix =
      n.is_progression(&loop::b) && k.is_progression(&loop::b) && (n.step(&loop::b) == 1 || k.step(&loop::b) == 1);
  /// Are they its rows?
  static constexpr bool are_rows = is_matrix && n.step(&loop::b) == 1 && k.step(&loop::b) != 1;
  /// Floats between its lines.
  static constexpr long line_step = k.step(&loop::b) == 1 ? n.step(&loop::b) : k.step(&loop::b);
  /// Lines of a panel of WIDTH columns of a block that are so far apart.
  template <int WIDTH>
  static constexpr int lines_apart = k.step(&loop::b) == 1 ? WIDTH : L.k_block;
  /// Lines of cache of such a panel.
  template <int WIDTH>
  static constexpr int panel_lines = L.k_block * WIDTH / line_floats;
  /// Is the next panel prefetched by the product of this one? A line with every step, if that is enough.
  template <int WIDTH>
  static constexpr bool product_fetches = [] {
    if (!L.packs_by_panel || !is_matrix || is_scheduled_by_hand(I)) return false;
    int const apart = lines_apart<WIDTH>, tiles = L.row_block / L.tile.pixels;
    return tiles * (L.k_block / apart) * apart >= panel_lines<WIDTH>;
  }();
  /// The columns of the panel after that of WIDTH columns of a block of K that begins with column `first`.
  template <int WIDTH>
  AGO_INLINE static float const* next_panel(float const* b, int block, int first) {
    bool const last = first + WIDTH >= L.columns;
    return b + (last ? block + 1 : block) * long(L.k_block) * k.step(&loop::b) +
           (last ? 0 : first + WIDTH) * n.step(&loop::b);
  }

  /// Steps first ... last - 1 of `rows` rows, which begin at a + starts[row].
  [[gnu::noinline]] static void rows(float const* a, int const* starts, int rows, int first, int last, float* to) {
    constexpr expression::matrix_loops k = loops_in(L.form.k, &loop::a);
    constexpr loop inner = k.count > 0 ? k.all[k.count - 1] : loop{};
    constexpr bool whole_runs = L.k_blocks() == 1 || L.k_block % L.k_run == 0;
    if constexpr (whole_runs && L.k_run <= 64 && (L.k_run > 1 || inner.extent == 1 || lanes(isa_of_four(I)) != 4)) {
      AGO_UNROLL(1)
      for (int i = first; i < last; i += L.k_run, to += L.k_run) {
        float const* const from = a + k.offset(i, &loop::a);
        AGO_UNROLL(1)
        for (int r = 0; r < rows; ++r) copy_exactly<I, L.k_run, true>(from + starts[r], to + long(r) * L.row_stride);
      }
    } else {
      constexpr int run = L.k_run > 1 ? L.k_run : inner.extent;
      AGO_UNROLL(1)
      for (int i = first, count; i < last; i += count, to += count) {
        count = run - i % run;
        if (count > last - i) count = last - i;
        float const* const from = a + k.offset(i, &loop::a);
        if constexpr (L.k_run > 1) {
          AGO_UNROLL(1)
          for (int r = 0; r < rows; ++r) copy_run<I>(from + starts[r], to + long(r) * L.row_stride, count);
        } else {  // transposes runs of rows that are neighbours in memory
          AGO_UNROLL(1)
          for (int r = 0, end; r < rows; r = end) {
            for (end = r + 1; end < rows && starts[end] == starts[end - 1] + 1;) ++end;
            transpose<I>(from + starts[r], inner.a, to + long(r) * L.row_stride, L.row_stride, end - r, count);
          }
        }
      }
    }
  }

  /// All columns of one batch.
  static void columns(float const* b, float* to) {
    constexpr int whole = L.vectors / L.tile.vectors * L.panel();
    for (int block = 0; block < L.k_blocks(); ++block) {
      for (int first = 0; first < whole; first += L.panel())
        panel<L.panel()>(b, block, first, to + L.panel_offset(block, first));
      if constexpr (L.tile.vectors_left > 0)
        panel<L.tile.vectors_left * V>(b, block, whole, to + L.panel_offset(block, whole));
    }
  }
  /// The panel of WIDTH columns of a block of K that begins with column `first`.
  template <int WIDTH>
  [[gnu::noinline]] static void panel(float const* b, int block, int first, float* to) {
    int const k0 = block * L.k_block, steps = L.steps_in(block);
    int const valid = first + WIDTH < L.columns ? WIDTH : L.columns - first;
    if constexpr (n_run > 1) panel_of_runs<WIDTH>(b, k0, steps, first, valid, to);
    else if constexpr (k.count > 0 && k.all[k.count - 1].b == 1) panel_of_steps<WIDTH>(b, k0, steps, first, valid, to);
    else panel_of_elements<WIDTH>(b, k0, steps, first, valid, to);
  }

 private:
  static constexpr long n_run = run_of(n, &loop::b);

  /// f(from, step, first, last) for steps first ... last - 1 of a block that are `step` floats apart; `from`: the first
  /// one of column 0.
  AGO_INLINE static void for_each_row_of_steps(float const* b, int k0, int depth, auto const& f) {
    for_each_run_of_steps<k, &loop::b>(
        k0, depth, [&](long place, long step, int i, int end) AGO_INLINE_LAMBDA { f(b + place, step, i, end); });
  }
  /// f(from, i) for the steps i of a block, of which `from` is that of column 0.
  AGO_INLINE static void for_each_step(float const* b, int k0, int depth, auto const& f) {
    for_each_row_of_steps(b, k0, depth, [&](float const* from, long step, int i, int end) AGO_INLINE_LAMBDA {
      AGO_UNROLL(1)
      for (; i < end; ++i, from += step) f(from, i);
    });
  }
  /// Copies a run that a register has room for, of `steps` steps. `spills`: the rest of the register is written, too,
  /// where other runs of the same steps come next.
  AGO_INLINE static void copy_short_run(float const* from, long step, int steps, float* to, long width, int count,
                                        bool spills) {
    auto const copy = [&](auto const& load, auto const& store) AGO_INLINE_LAMBDA {
      AGO_UNROLL(1)
      for (int i = 0; i < steps; ++i, from += step, to += width) store(load(from), to);
    };
    auto const whole = [](float const* p) AGO_INLINE_LAMBDA { return vec<I>::load(p, int(n_run)); };
    auto const part = [&](float const* p) AGO_INLINE_LAMBDA { return vec<I>::load(p, count); };
    auto const spill = [](vec<I> x, float* p) AGO_INLINE_LAMBDA { x.store(p); };
    if (!spills) copy(part, [&](vec<I> x, float* p) AGO_INLINE_LAMBDA { x.store(p, count); });
    else if (count == n_run) copy(whole, spill);
    else copy(part, spill);
  }

  /// A panel whose columns are steps of K that are consecutive floats, transposed.
  template <int WIDTH>
  AGO_INLINE static void panel_of_steps(float const* b, int k0, int steps, int first, int valid, float* to) {
    constexpr loop inner = k.all[k.count - 1], across = n.count > 0 ? n.all[n.count - 1] : loop{};
    if (valid < WIDTH)
      for (int i = 0; i < steps; ++i)
        for (int c = valid; c < WIDTH; ++c) to[long(i) * WIDTH + c] = 0;
    constexpr bool fetches = L.packs_by_panel && is_matrix && !product_fetches<WIDTH>;
    float const* const next = next_panel<WIDTH>(b, k0 / L.k_block, first);
    AGO_UNROLL(1)
    for (int i = 0, count; i < steps; i += count) {
      count = inner.extent - (k0 + i) % inner.extent;
      if (count > steps - i) count = steps - i;
      if (fetches && count > line_floats) count = line_floats;
      if constexpr (fetches)
        for (int c = 0; c < valid; ++c) __builtin_prefetch(next + c * across.b + i, 0, 2);
      float const* const from = b + k.offset(k0 + i, &loop::b);
      AGO_UNROLL(1)
      for (int c = 0, many; c < valid; c += many) {
        many = across.extent - (first + c) % across.extent;
        if (many > valid - c) many = valid - c;
        transpose<I>(from + n.offset(first + c, &loop::b), across.b, to + long(i) * WIDTH + c, WIDTH, count, many);
      }
    }
  }

  /// A panel of elements that are scattered one by one.
  template <int WIDTH>
  AGO_INLINE static void panel_of_elements(float const* b, int k0, int steps, int first, int valid, float* to) {
    int place[WIDTH]{};
    for (int c = 0; c < valid; ++c) place[c] = int(n.offset(first + c, &loop::b));
    for_each_step(b, k0, steps, [&](float const* from, int i) AGO_INLINE_LAMBDA {
      float* const at = to + long(i) * WIDTH;
      if (valid == WIDTH) {
        AGO_UNROLL(16)
        for (int c = 0; c < WIDTH; ++c) at[c] = from[place[c]];
      } else {
        for (int c = 0; c < WIDTH; ++c) at[c] = c < valid ? from[place[c]] : 0;
      }
    });
  }

  /// A panel whose columns are runs of consecutive floats. The rest of a register that a run does not fill is written,
  /// too: what is behind it comes next.
  template <int WIDTH>
  AGO_INLINE static void panel_of_runs(float const* b, int k0, int depth, int first, int valid, float* to) {
    struct run {
      int from, at, count;
    };
    run runs[WIDTH];
    int count = 0;
    for (int c = 0, many; c < valid; c += many) {
      many = int(n_run - (first + c) % n_run);
      if (many > valid - c) many = valid - c;
      runs[count++] = {int(n.offset(first + c, &loop::b)), c, many};
    }
    if constexpr (n_run < V) {
      for (int i = 0; i < depth && valid < WIDTH; ++i) vec<I>(0.f).store(to + long(i) * WIDTH + WIDTH - V);
      for_each_row_of_steps(b, k0, depth, [&](float const* from, long step, int i, int end) AGO_INLINE_LAMBDA {
        AGO_UNROLL(1)
        for (int r = 0; r < count; ++r)
          copy_short_run(from + runs[r].from, step, end - i, to + long(i) * WIDTH + runs[r].at, WIDTH, runs[r].count,
                         r + 1 < count && runs[r].at + V <= WIDTH);
      });
      return;
    }
    for_each_step(b, k0, depth, [&](float const* from, int i) AGO_INLINE_LAMBDA {
      float* const at = to + long(i) * WIDTH;
      if (valid < WIDTH) vec<I>(0.f).store(at + WIDTH - V);
      AGO_UNROLL(1)
      for (int r = 0; r < count; ++r) {
        float const* const p = from + runs[r].from;
        float* const q = at + runs[r].at;
        // The next panel, whose rows are too far apart for the hardware to foresee.
        if constexpr (L.packs_by_panel && !product_fetches<WIDTH>) {
          AGO_UNROLL(16)
          for (int f = 0; f < WIDTH; f += line_floats)
            if (f < runs[r].count) __builtin_prefetch(p + WIDTH + f, 0, 2);
        }
        int const left = runs[r].count % V, whole = runs[r].count - left;
        AGO_UNROLL(1)
        for (int j = 0; j < whole; j += V) vec<I>::load(p + j).store(q + j);
        if (left == 0) continue;
        vec<I> const x = vec<I>::load(p + whole, left);
        i + 1 == depth ? x.store(q + whole, left) : x.store(q + whole);
      }
    });
  }
};

}  // namespace ago::kernel
