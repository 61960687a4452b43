// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maximum over windows known at compile time: the maximum of an input column serves all windows that contain it.
#pragma once

#include <ago/kernel/pool/pool.hpp>
#include <ago/simd/fetch.hpp>

namespace ago::kernel {

/// Computes `K.tile.pixels` results of a row at a time where all columns of their windows are inside the image, then
/// `K.tile.pixels_left`, and one at a time at the sides of the image.
template <kernel_key K>
class max_pool_tile {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I), kw = K.kernel_w, sw = K.stride_w;
  static constexpr int columns = K.tile.pixels, left = K.tile.pixels_left > 0 ? K.tile.pixels_left : 1;

 public:
  /// Output rows first ... last - 1 of image n.
  static void rows(step_data const& s, kernel_memory const& m, int n, int first, int last) {
    max_pool_tile work(s, m);
    work.finish_.image(s, m, n);
    for (int oy = first; oy < last; ++oy) work.row(n, oy);
  }

 private:
  max_pool_tile(step_data const& s, kernel_memory const& m)
      : s_(s), finish_(s, m), in_(address(s.source, m)), out_(mutable_address(s.destination, m)),
        crosses_lines_(stores_cross_lines<I>(out_, s.destination.pixel_stride)) {}

  void row(int n, int oy) {
    int const iy = oy * K.stride_h - s_.win.pad_top;
    tap_range const taps = taps_inside(iy, 1, K.kernel_h, s_.in.h);
    rows_ = taps.count();
    for (int y = 0; y < rows_; ++y)
      in_row_[y] = in_ + row_in_memory(s_.source, s_.in, n, iy + taps.first + y) * s_.in.w * s_.source.pixel_stride;
    out_row_ = out_ + row_in_memory(s_.destination, s_.out, n, oy) * s_.out.w * s_.destination.pixel_stride;
    long const pixel = (long(n) * s_.out.h + oy) * s_.out.w;
    for (int ox = 0; ox < s_.out.w;) {
      int const ix = ox * sw - s_.win.pad_left;
      auto const are_inside = [&](int results) {
        return ix >= 0 && ix + (results - 1) * sw + kw <= s_.in.w && ox + results <= s_.out.w;
      };
      if (are_inside(columns)) ox += channels<columns>(ix, {0, kw}, ox, pixel + ox);
      else if (are_inside(left)) ox += channels<left>(ix, {0, kw}, ox, pixel + ox);
      else ox += channels<1>(ix, taps_inside(ix, 1, kw, s_.in.w), ox, pixel + ox);
    }
  }

  /// Computes all channels of `Columns` results from column ox on, with indices from `pixel` on. Taps of the first
  /// result that are not in `taps` are outside the image. Returns `Columns`.
  template <int Columns>
  AGO_INLINE int channels(int ix, tap_range taps, int ox, long pixel) const {
    long const in = long(ix) * s_.source.pixel_stride;
    float* const out = out_row_ + ox * long(s_.destination.pixel_stride);
    int c = 0;
    long next = in + long(Columns) * sw * s_.source.pixel_stride;
    if (ox + Columns >= s_.out.w && s_.source.ring == 0)  // the first tile of the next row
      next = long(K.stride_h) * s_.in.w * s_.source.pixel_stride;
    AGO_UNROLL(1)
    for (; c + V <= s_.out.c; c += V, next += long(Columns) * sw * V) {
      fetch<Columns * sw * V>(next);
      compute<Columns, false>(in + c, taps, out + c, pixel, c);
    }
    if constexpr (K.partial)
      if (c < s_.out.c) compute<Columns, true>(in + c, taps, out + c, pixel, c);
    return Columns;
  }

  /// Prefetches a part of the next tile's rows, of so many floats: the rows have more streams than prefetchers follow.
  template <int Floats>
  AGO_INLINE void fetch(long first) const {
    if constexpr (is_scheduled_by_hand(I)) {
      AGO_UNROLL(1)
      for (int y = 0; y < rows_; ++y) {
        AGO_UNROLL(32)
        for (int f = 0; f < Floats; f += line_floats) __builtin_prefetch(in_row_[y] + first + f);
      }
    }
  }

  template <int Columns, bool Partial>
  AGO_INLINE void compute(long in, tap_range taps, float* out, long pixel, int channel) const {
    constexpr int width = (Columns - 1) * sw + kw;
    int const count = s_.out.c - channel;
    long const right = s_.source.pixel_stride;
    if (!Partial && crosses_lines_) fetch_ends<I, Columns>(out, s_.destination.pixel_stride);
    vec<I> most[width];
    AGO_UNROLL(32)
    for (int x = 0; x < width; ++x) most[x] = neutral<K>();
    AGO_UNROLL(1)
    for (int y = 0; y < rows_; ++y) {
      float const* p = in_row_[y] + in;
      AGO_UNROLL(32)
      for (int x = 0; x < width; ++x, p += right) {
        if constexpr (!is_scheduled_by_hand(I)) pin(p);  // otherwise distances fill the general registers, and more
        if (Columns > 1 || (x >= taps.first && x < taps.last)) most[x] = max(most[x], load<I, Partial>(p, count));
      }
    }
    AGO_UNROLL(32)
    for (int i = 0; i < Columns; ++i, out += s_.destination.pixel_stride) {
      vec<I> x = most[i * sw];
      AGO_UNROLL(32)
      for (int k = 1; k < kw; ++k) x = max(x, most[i * sw + k]);
      finish_and_store<K, Partial>(finish_, x, out, pixel + i, channel, count);
    }
  }

  step_data const& s_;
  finisher<K.after, I> finish_;
  float const *in_, *in_row_[K.kernel_h]{};  ///< rows of the window that are inside the image
  int rows_{};                               ///< number of those rows
  float *out_, *out_row_{};
  bool crosses_lines_;  ///< stores of results do
};

template <kernel_key K, bool KnownWindow = (K.kernel_h > 0)>
struct max_pool_method {
  using type = max_pool_tile<K>;
};
template <kernel_key K>
struct max_pool_method<K, false> {
  using type = window_pool<K>;
};

template <kernel_key K> struct max_pool_kernel : pool_of_images<typename max_pool_method<K>::type> {};

}  // namespace ago::kernel
