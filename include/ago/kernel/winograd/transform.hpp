// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transforms of Winograd convolution, F(2x2, 3x3) and F(4x4, 3x3), on registers of channels.
#pragma once

#include <ago/kernel/winograd/points.hpp>
#include <ago/simd/in_order.hpp>
#include <ago/simd/spaced.hpp>

namespace ago::kernel {

/// One axis of F(TILE x TILE, 3 x 3) (Lavin and Gray, 2016, equation 8): B^T, G and A^T of
/// Y = A^T ((G g G^T) * (B^T d B)) A. Rows of B^T and A^T are computed in pairs, which share common subexpressions.
template <int TILE>
struct winograd_scheme;

template <>
struct winograd_scheme<2> : winograd_points<2> {
  static constexpr int input_pairs = 2, output_pairs = 1;
  static constexpr int input_rows[input_pairs][2] = {{0, 3}, {1, 2}}, output_rows[output_pairs][2] = {{0, 1}};

  template <int PAIR, isa I, class Values>
  AGO_INLINE static void input(Values d, vec<I>& x, vec<I>& y) {
    if constexpr (PAIR == 0) {
      x = d(0) - d(2);
      y = d(3) - d(1);
    } else {
      vec<I> const d1 = d(1), d2 = d(2);
      x = d1 + d2;
      y = d2 - d1;
    }
  }

  template <int PAIR, isa I, class Values>
  AGO_INLINE static void output(Values m, vec<I>& x, vec<I>& y) {
    vec<I> const m1 = m(1), m2 = m(2);
    x = m(0) + m1 + m2;
    y = m1 - m2 + m(3);
  }
};

template <>
struct winograd_scheme<4> : winograd_points<4> {
  static constexpr int input_pairs = 3, output_pairs = 2;
  static constexpr int input_rows[input_pairs][2] = {{0, 5}, {1, 2}, {3, 4}};
  static constexpr int output_rows[output_pairs][2] = {{0, 2}, {1, 3}};

  template <int PAIR, isa I, class Values>
  AGO_INLINE static void input(Values d, vec<I>& x, vec<I>& y) {
    using v = vec<I>;
    if constexpr (PAIR == 0) {
      v const product(float(a2 * b2)), sum(float(-a2 - b2));
      x = fma(product, d(0), fma(sum, d(2), d(4)));
      y = fma(product, d(1), fma(sum, d(3), d(5)));
    } else {
      v const other(float(PAIR == 1 ? -b2 : -a2));
      v const even = fma(other, d(2), d(4)), odd = fma(other, d(1), d(3));
      x = fma(v(float(PAIR == 1 ? a : b)), odd, even);
      y = fma(v(float(PAIR == 1 ? -a : -b)), odd, even);
    }
  }

  template <int PAIR, isa I, class Values>
  AGO_INLINE static void output(Values m, vec<I>& x, vec<I>& y) {
    using v = vec<I>;
    if constexpr (PAIR == 0) {
      v const at_a = m(1) + m(2), at_b = m(3) + m(4);
      x = m(0) + at_a + at_b;
      y = fma(v(float(a2)), at_a, v(float(b2)) * at_b);
    } else {
      v const at_a = m(1) - m(2), at_b = m(3) - m(4);
      x = fma(v(float(a)), at_a, v(float(b)) * at_b);
      y = fma(v(float(a2 * a)), at_a, fma(v(float(b2 * b)), at_b, m(5)));
    }
  }
};

/// Calls f.operator()<0>() ... f.operator()<N - 1>().
template <int N, class F>
AGO_INLINE void for_each_pair(F f) {
  f.template operator()<0>();
  if constexpr (N > 1) f.template operator()<1>();
  if constexpr (N > 2) f.template operator()<2>();
}

/// Transforms one patch of inputs, with element (y, x) at from + y * row + x * pixel, into points, with point
/// y * patch + x at to + point * stride. Only two rows of points fit the registers, so the patch is read again for
/// every two.
template <int TILE, isa I>
AGO_INLINE void transform_patch(float const* from, long row, long pixel, float* to, long stride) {
  using scheme = winograd_scheme<TILE>;
  constexpr int n = scheme::patch;
  for_each_pair<scheme::input_pairs>([&]<int ROWS>() AGO_INLINE_LAMBDA {
    vec<I> lines[2][n];
    spaced_pointers<float const, n> column(from, row);
    AGO_UNROLL(8)
    for (int x = 0; x < n; ++x, column += pixel) {
      auto const at = [&](int y) AGO_INLINE_LAMBDA { return vec<I>::load(column[y]); };
      scheme::template input<ROWS>(at, lines[0][x], lines[1][x]);
    }
    AGO_UNROLL(2)
    for (int k = 0; k < 2; ++k) {
      float* line = to + scheme::input_rows[ROWS][k] * n * stride;
      pin(line);
      spaced_pointers<float, n> const points(line, stride);
      for_each_pair<scheme::input_pairs>([&]<int COLUMNS>() AGO_INLINE_LAMBDA {
        vec<I> a, b;
        scheme::template input<COLUMNS>([&](int x) AGO_INLINE_LAMBDA { return lines[k][x]; }, a, b);
        store(a, points[scheme::input_rows[COLUMNS][0]]);
        store(b, points[scheme::input_rows[COLUMNS][1]]);
      });
    }
  });
}

/// Transforms the products of one tile, with point p at from + p * STRIDE, into TILE x TILE outputs. Calls finish(y, x,
/// output) for those in the first `rows` rows and `columns` columns; if LENGTHY, from a single place in the code.
template <int TILE, int STRIDE, bool LENGTHY, isa I, class Finish>
AGO_INLINE void transform_products(float const* from, int rows, int columns, Finish finish) {
  using scheme = winograd_scheme<TILE>;
  constexpr int n = scheme::patch;
  [[maybe_unused]] vec<I> outputs[LENGTHY ? TILE : 1][TILE];
  for_each_pair<scheme::output_pairs>([&]<int ROWS>() AGO_INLINE_LAMBDA {
    vec<I> lines[2][n];
    AGO_UNROLL(8)
    for (int x = 0; x < n; ++x) {
      auto const at = [=](int y) AGO_INLINE_LAMBDA { return vec<I>::load(from + (y * n + x) * STRIDE); };
      scheme::template output<ROWS>(at, lines[0][x], lines[1][x]);
    }
    AGO_UNROLL(2)
    for (int k = 0; k < 2; ++k) {
      int const y = scheme::output_rows[ROWS][k];
      vec<I> line[TILE];
      for_each_pair<scheme::output_pairs>([&]<int COLUMNS>() AGO_INLINE_LAMBDA {
        auto const at = [&](int x) AGO_INLINE_LAMBDA { return lines[k][x]; };
        scheme::template output<COLUMNS>(at, line[scheme::output_rows[COLUMNS][0]],
                                         line[scheme::output_rows[COLUMNS][1]]);
      });
      AGO_UNROLL(4)
      for (int x = 0; x < TILE; ++x) {
        if constexpr (LENGTHY) outputs[y][x] = line[x];
        else if (y < rows && x < columns) finish(y, x, line[x]);
      }
    }
  });
  if constexpr (LENGTHY) {
    int const y_end = rows < TILE ? rows : TILE, x_end = columns < TILE ? columns : TILE;
    AGO_UNROLL(1)
    for (int y = 0; y < y_end; ++y) {
      AGO_UNROLL(1)
      for (int x = 0; x < x_end; ++x) finish(y, x, outputs[y][x]);
    }
  }
}

}  // namespace ago::kernel
