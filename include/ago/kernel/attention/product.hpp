// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values that are known only at run time: packs the second, and multiplies rows of the first by it.
#pragma once

#include <ago/kernel/attention/layout.hpp>
#include <ago/kernel/tile.hpp>
#include <ago/simd/register_run.hpp>
#include <ago/simd/transpose.hpp>

#include <limits>

namespace ago::kernel {

/// The pixels of a value that are the rows of one matrix: row t is pixel
/// first + t / columns * down + t % columns * across.
struct row_pixels {
  long first;
  int columns;
  long across, down;

  /// Pixels first, first + 1, ...
  AGO_INLINE static row_pixels dense(long first, int rows) { return {first, rows, 1, 0}; }
  /// The tokens at (py, px) of each patch of image `n` of `s`, row by row.
  AGO_INLINE static row_pixels tokens(shape const& s, patch const& p, int n, int py, int px) {
    auto const [ph, pw] = p;
    if (ph == 1 && pw == 1) return dense(long(n) * s.h * s.w, s.h * s.w);
    return {(long(n) * s.h + py) * s.w + px, s.w / pw, pw, long(ph) * s.w};
  }
  AGO_INLINE long pixel(int t) const { return first + t / columns * down + t % columns * across; }
  /// Number of rows from t on, up to `end`, that are `across` apart.
  AGO_INLINE int run(int t, int end) const {
    int const next = t - t % columns + columns;
    return (next < end ? next : end) - t;
  }
};

/// The channels of some pixels of a value as a matrix: element (t, c) is at(t)[c].
struct matrix_rows {
  float const* base;  ///< channel 0 of the matrix at pixel 0 of the value
  long stride;        ///< floats between pixels
  row_pixels pixels;
  AGO_INLINE float const* at(int t) const { return base + pixels.pixel(t) * stride; }
};

/// Packs the matrix whose rows are layout.depth rows of `from`.
template <isa I>
[[gnu::noinline]] void pack_rows(product_layout const& layout, matrix_rows const& from, float* to) {
  for (int panel = 0; panel < layout.panels; ++panel) {
    int const first = layout.first_vector(panel) * lanes(I), end = layout.first_vector(panel + 1) * lanes(I);
    int const rest = layout.columns - first, width = end - first;
    register_run<I> const valid(rest < width ? rest : width);
    for (int k = 0; k < layout.depth; ++k, to += width) {
      float const* const row = from.at(k) + first;
      valid.each([&](int i, int count) AGO_INLINE_LAMBDA { load_lanes<I>(row + i, count).store(to + i); });
    }
  }
}

/// Packs the matrix whose columns are layout.columns rows of `from`.
template <isa I>
[[gnu::noinline]] void pack_columns(product_layout const& layout, matrix_rows const& from, float* to) {
  for (int panel = 0; panel < layout.panels; ++panel) {
    int const first = layout.first_vector(panel) * lanes(I), end = layout.first_vector(panel + 1) * lanes(I);
    int const last = end < layout.columns ? end : layout.columns, width = end - first;
    for (int t = first, run; t < last; t += run) {
      run = from.pixels.run(t, last);
      transpose<I>(from.at(t), from.pixels.across * from.stride, to + (t - first), width, layout.depth, run);
    }
    if (last < end)
      for (int k = 0; k < layout.depth; ++k)
        for (int t = last; t < end; ++t) to[long(k) * width + (t - first)] = 0;
    to += long(width) * layout.depth;
  }
}

/// Copies rows first ... first + count - 1 of `from`, `depth` floats each, times `factor`, and appends rows of zeros to
/// fill the last half register tile.
template <isa I>
[[gnu::noinline]] void copy_rows(matrix_rows const& from, int first, int count, int depth, float factor, float* to) {
  constexpr int half = product_tile(I).pixels / 2;
  register_run<I> const row(depth);
  vec<I> const scale(factor);
  for (int t = first; t < first + count; ++t, to += depth) {
    float const* const p = from.at(t);
    row.each([&](int i, int valid)
                 AGO_INLINE_LAMBDA { store_lanes(load_lanes<I>(p + i, valid) * scale, to + i, valid); });
  }
  for (long i = 0; i < long((half - count % half) % half) * depth; ++i) to[i] = 0;
}

/// Multiplies rows by one panel of VECTORS vectors: to[row][column] = start[column] + sum. Reads and writes whole half
/// tiles.
template <loop_form FORM, isa I, int VECTORS>
[[gnu::noinline]] void multiply_panel(float const* a, long a_stride, int rows, int depth, float const* panel,
                                      float const* begin, float* to, long to_stride) {
  constexpr int whole = product_tile(I).pixels, half = whole / 2;
  auto const tile = [&]<int ROWS>() AGO_INLINE_LAMBDA {
    vec<I> acc[ROWS][VECTORS];
    start(begin, acc);
    accumulate<FORM>(a, a_stride, depth, panel, acc);
    if constexpr (is_scheduled_by_hand(I)) {
      finish_bounded<0>(acc, to, to_stride);
    } else {
      AGO_UNROLL(32)
      for (int r = 0; r < ROWS; ++r) {
        AGO_UNROLL(32)
        for (int v = 0; v < VECTORS; ++v) acc[r][v].store(to + r * to_stride + v * lanes(I));
      }
    }
    a += ROWS * a_stride;
    to += ROWS * to_stride;
  };
  AGO_UNROLL(1)
  for (; rows > half; rows -= whole) tile.template operator()<whole>();
  if (rows > 0) tile.template operator()<half>();
}

/// Multiplies rows by the packed operand: to[row][layout.padded_columns()] = start[column] + sum.
template <loop_form FORM, isa I>
void multiply_rows(product_layout const& layout, float const* a, long a_stride, int rows, float const* packed,
                   float const* begin, float* to) {
  for (int panel = 0; panel < layout.panels; ++panel) {
    int const first = layout.first_vector(panel), vectors = layout.first_vector(panel + 1) - first;
    long const column = long(first) * lanes(I);
    auto const multiply = [&]<int VECTORS>() {
      if constexpr (VECTORS <= product_tile(I).vectors)
        multiply_panel<FORM, I, VECTORS>(a, a_stride, rows, layout.depth, packed + layout.panel_offset(panel),
                                         begin + column, to + column, layout.padded_columns());
    };
    switch (vectors) {
      case 1: multiply.template operator()<1>(); break;
      case 2: multiply.template operator()<2>(); break;
      case 3: multiply.template operator()<3>(); break;
    }
  }
  static_assert(product_tile(I).vectors <= 3);
}

/// Writes the initial values of the accumulators: zeros, and `behind` after the last column.
template <isa I>
void write_start(product_layout const& layout, float behind, float* to) {
  for (int c = 0; c < layout.padded_columns(); ++c) to[c] = c < layout.columns ? 0.f : behind;
}

/// Applies the epilogue to `count` results from channel `channel` of `pixel` on, times `factor`, and stores them.
template <epilogue E, isa I>
[[gnu::noinline]] void finish_row(finisher<E, I> const& after, float const* row, float factor, long pixel, int channel,
                                  int count, float* to) {
  register_run<I>(count).each([&](int i, int valid) AGO_INLINE_LAMBDA {
    store_lanes(after(vec<I>::load(row + i) * vec<I>(factor), pixel, channel + i, valid), to + i, valid);
  });
}

/// The products of one step: its layout, its scratch, and the destination of the results.
template <kernel_key K>
class product_step {
 public:
  static constexpr isa target = K.target;

  product_step(step_data const& s, kernel_memory const& m)
      : layout(layout_of_attention(K.what, s, m.details(s), target)), scratch_(m.arena + s.scratch), after_(s, m),
        destination_(mutable_address(s.destination, m)), stride_(s.destination.pixel_stride) {
    constexpr bool weighs = K.what == structure::attention;  // padded keys must not count in the softmax
    write_start<target>(layout.first, weighs ? -std::numeric_limits<float>::infinity() : 0.f,
                        scratch_ + layout.first_start());
    if (weighs) write_start<target>(layout.second, 0.f, scratch_ + layout.second_start());
  }

  float* first_operand() const { return scratch_; }
  float* second_operand() const { return scratch_ + layout.second_operand(); }
  float* factors() const { return scratch_ + layout.factors(); }
  float* first_results() const { return scratch_ + layout.first_results(); }
  float* second_results() const { return scratch_ + layout.second_results(); }

  /// Multiplies all rows of a batch by the first operand and `factor`, a few rows at a time, and calls f(first, count)
  /// for these, with the products in first_results().
  template <class F>
  AGO_INLINE void multiply(matrix_rows const& from, float factor, F f) const {
    float* const copies = scratch_ + layout.row_copies();
    for (int first = 0; first < layout.rows; first += layout.together) {
      int const rest = layout.rows - first, count = rest < layout.together ? rest : layout.together;
      copy_rows<target>(from, first, count, layout.first.depth, factor, copies);
      multiply_rows<form_of(K), target>(layout.first, copies, layout.first.depth, count, first_operand(),
                                        scratch_ + layout.first_start(), first_results());
      f(first, count);
    }
  }
  /// Multiplies the first results of `count` rows by the second operand.
  void multiply_again(int count) const {
    multiply_rows<form_of(K), target>(layout.second, first_results(), layout.first.padded_columns(), count,
                                      second_operand(), scratch_ + layout.second_start(), second_results());
  }
  /// Finishes one row of results, and stores it at `pixel` from `channel` on.
  void finish(product_layout const& of, float const* row, float factor, long pixel, int channel) const {
    finish_row(after_, row, factor, pixel, channel, of.columns, destination_ + pixel * stride_ + channel);
  }

  attention_layout const layout;

 private:
  float* scratch_;
  finisher<K.after, target> after_;
  float* destination_;
  long stride_;
};

}  // namespace ago::kernel
