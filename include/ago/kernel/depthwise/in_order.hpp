// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile of a depthwise convolution, scheduled by hand.
#pragma once

#include <ago/kernel/depthwise/geometry.hpp>
#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/tile.hpp>
#include <ago/simd/in_order.hpp>

#include <utility>

namespace ago::kernel {

/// The addresses of a tile's rows at its first pixel (which may be outside the image), and which rows and columns
/// exist.
template <int IN_ROWS, int ROWS>
struct depthwise_area {
  float const* in[IN_ROWS];
  float* out[ROWS];
  long in_pixel, out_pixel;              ///< floats between pixels
  unsigned rows_inside, columns_inside;  ///< bit i: row or column i of the input is inside the image
  int out_rows;                          ///< rows of results that exist
  long pixel;                            ///< index of the first result
  int width;                             ///< results in a row of the image
};

/// K.tile.vectors x COLUMNS results, for one vector of channels after another. The input is read row by row, and each
/// input is loaded `ahead` inputs before it is used. The taps of a result are added in the order (ky, kx).
template <kernel_key K, int COLUMNS>
class depthwise_in_order {
  using geometry = depthwise_geometry<K.kernel_h, K.kernel_w, K.stride_h, K.stride_w, K.tile.vectors, COLUMNS>;
  static constexpr int kh = geometry::kh, kw = geometry::kw, sh = geometry::sh, sw = geometry::sw;
  static constexpr int rows = geometry::rows, in_rows = geometry::in_rows, in_columns = geometry::in_columns;
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I), ahead = 3;

 public:
  using area = depthwise_area<in_rows, rows>;

  /// Computes vectors first ... last - 1 of channels. Not inlined, because it needs most of the registers.
  [[gnu::noinline]] static void run(area const& t, float const* weights, finisher<K.after, I> const& epilogue,
                                    int first, int last) {
    finisher<K.after, I> const after = epilogue;
    limits const at{t.in_pixel, t.rows_inside, t.columns_inside};
    long const out_pixel = t.out_pixel;
    int const out_rows = t.out_rows;
    float const* in[in_rows];
    float* out[rows];
    AGO_UNROLL(32)
    for (int r = 0; r < in_rows; ++r) in[r] = t.in[r] + first * V;
    AGO_UNROLL(32)
    for (int y = 0; y < rows; ++y) out[y] = t.out[y] + first * V;
    weights += long(first) * V * (kh * kw + 1);
    AGO_UNROLL(1)
    for (int v = first; v < last; ++v) {
      vec<I> sum[rows][COLUMNS], w[kh][kw];
      pin(weights);
      [&]<int... R>(std::integer_sequence<int, R...>) AGO_INLINE_LAMBDA {
        (
            [&]() AGO_INLINE_LAMBDA {
              row<R>(in[R], at, weights, w, sum);
              if constexpr (constexpr int y = (R - kh + 1) / sh; R >= kh - 1 && y * sh == R - kh + 1)
                if (y < out_rows) finish(after, sum[y], out[y], out_pixel, t.pixel + y * t.width, v * V);
            }(),
            ...);
      }(std::make_integer_sequence<int, in_rows>{});
      weights += V * (kh * kw + 1);
      AGO_UNROLL(32)
      for (int r = 0; r < in_rows; ++r) in[r] += V;
      AGO_UNROLL(32)
      for (int y = 0; y < rows; ++y) out[y] += V;
    }
  }

 private:
  struct limits {
    long in_pixel;
    unsigned rows_inside, columns_inside;
    AGO_INLINE bool has_row(int r) const { return rows_inside >> r & 1; }
    /// Only columns at a side may be outside the image.
    AGO_INLINE bool has_column(int c) const { return !geometry::is_side(c) || columns_inside >> c & 1; }
  };
  /// Enough for at least four products, the latency of one.
  static constexpr int lag(int r) { return geometry::lag(r, 4 * sw); }

  template <int R, int... X>
  AGO_INLINE static void load_taps(std::integer_sequence<int, X...>, float const* weights, vec<I> (&w)[kw]) {
    (load_vector<R * kw + X>(w[X], weights), ...);
  }
  /// Starts the accumulators in column z to which row R is the first to add.
  template <int R>
  AGO_INLINE static void start(float const* weights, vec<I> (&sum)[rows][COLUMNS], int z) {
    if constexpr (R % sh == 0 && R / sh < rows) load_vector<kh * kw>(sum[R / sh][z], weights);
  }
  template <int R>
  AGO_INLINE static void start_row(float const* weights, vec<I> (&sum)[rows][COLUMNS]) {
    AGO_UNROLL(32)
    for (int z = 0; z < COLUMNS; ++z) start<R>(weights, sum, z);
  }

  /// Loads column C, alternately from p and from one pixel after it.
  template <int C>
  AGO_INLINE static void load(float const*& p, limits const& at, vec<I> (&x)[in_columns]) {
    if constexpr (C < in_columns) {
      if constexpr (geometry::is_side(C)) forget(x[C]);
      if (at.has_column(C)) {
        if constexpr (C % 2 == 0) load_vector<0>(x[C], p);
        else load_input<V>(x[C], p, at.in_pixel * 4);
      }
      if constexpr (C % 2 == 1) {
        p += 2 * at.in_pixel;
        pin(p);
      }
    }
  }

  template <int R>
  AGO_INLINE static void row(float const* p, limits const& at, float const* weights, vec<I> (&w)[kh][kw],
                             vec<I> (&sum)[rows][COLUMNS]) {
    if constexpr (R < kh) load_taps<R>(std::make_integer_sequence<int, kw>{}, weights, w[R]);
    if (!at.has_row(R)) return start_row<R>(weights, sum);
    vec<I> x[in_columns];
    start<R>(weights, sum, 0);
    [&]<int... C>(std::integer_sequence<int, C...>)
        AGO_INLINE_LAMBDA { (load<C>(p, at, x), ...); }(std::make_integer_sequence<int, ahead>{});
    auto const one = [&]<int T>() AGO_INLINE_LAMBDA {
      load<T + ahead>(p, at, x);
      if constexpr (T % sw == sw - 1 && T / sw + 1 < COLUMNS) start<R>(weights, sum, T / sw + 1);
      multiply_lagging<R, T>(std::make_integer_sequence<int, kw>{}, at, w, x, sum);
    };
    [&]<int... T>(std::integer_sequence<int, T...>) AGO_INLINE_LAMBDA {
      (one.template operator()<T>(), ...);
    }(std::make_integer_sequence<int, in_columns + lag(R) * (kw - 1)>{});
  }

  template <int R, int T, int... X>
  AGO_INLINE static void multiply_lagging(std::integer_sequence<int, X...>, limits const& at, vec<I> const (&w)[kh][kw],
                                          vec<I> const (&x)[in_columns], vec<I> (&sum)[rows][COLUMNS]) {
    auto const tap = [&]<int KX, int C>() AGO_INLINE_LAMBDA {
      if constexpr (C >= 0 && geometry::meets(C, KX))
        if (at.has_column(C)) multiply_tap<R, C, KX>(w, x[C], sum);
    };
    (tap.template operator()<X, T - lag(R) * X>(), ...);
  }

  /// Adds input (R, C) times tap KX of every row of weights.
  template <int R, int C, int KX>
  AGO_INLINE static void multiply_tap(vec<I> const (&w)[kh][kw], vec<I> const& x, vec<I> (&sum)[rows][COLUMNS]) {
    if constexpr (geometry::meets(C, KX)) {
      AGO_UNROLL(32)
      for (int ky = 0; ky < kh; ++ky) {
        int const y = R - ky;
        if (y >= 0 && y % sh == 0 && y / sh < rows) multiply(sum[y / sh][(C - KX) / sw], w[ky][KX], x);
      }
    }
  }

  AGO_INLINE static void finish(finisher<K.after, I> const& after, vec<I> (&sum)[COLUMNS], float* to, long step,
                                long pixel, int channel) {
    if constexpr (is_lengthy(K.after)) {
      vec<I> results[COLUMNS][1];
      AGO_UNROLL(32)
      for (int z = 0; z < COLUMNS; ++z) results[z][0] = sum[z];
      return finish_apart(after, results, COLUMNS, {to, step, pixel, 1, channel, V});
    }
    constexpr int early = COLUMNS < 3 ? COLUMNS : 3;  // addresses that are computed in advance
    float* address[COLUMNS];
    auto const next = [&](int z) AGO_INLINE_LAMBDA {
      pin(to);
      address[z] = to;
      to += step;
    };
    AGO_UNROLL(32)
    for (int z = 0; z < early; ++z) next(z);
    AGO_UNROLL(32)
    for (int z = 0; z < COLUMNS; ++z) sum[z] = after(sum[z], pixel + z, channel);
    AGO_UNROLL(32)
    for (int z = 0; z < COLUMNS; ++z) {
      store(sum[z], address[z]);
      if (z + early < COLUMNS) next(z + early);
    }
  }
};

}  // namespace ago::kernel
