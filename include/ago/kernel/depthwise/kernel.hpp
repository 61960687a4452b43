// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Depthwise convolution: one window per channel, channels across the lanes of a register.
#pragma once

#include <ago/kernel/depthwise/halves.hpp>
#include <ago/kernel/tile.hpp>
#include <ago/kernel/window_taps.hpp>
#include <ago/simd/fetch.hpp>

namespace ago::kernel {

/// A depthwise step bound to its memory; strides in floats.
template <kernel_key K>
struct depthwise_memory {
  depthwise_memory(step_data const& s, kernel_memory const& m)
      : finish(s, m), in(address(s.source, m)), out(mutable_address(s.destination, m)), weights(m.weights + s.weights),
        in_pixel(s.source.pixel_stride), in_row(in_pixel * s.in.w), out_pixel(s.destination.pixel_stride),
        out_row(out_pixel * s.out.w), channels(s.out.c), crosses_lines(stores_cross_lines<K.target>(out, out_pixel)) {}
  /// Row y of image n, in the value or its ring buffer.
  AGO_INLINE float const* in_row_at(step_data const& s, int n, int y) const {
    return in + row_in_memory(s.source, s.in, n, y) * in_row;
  }
  AGO_INLINE float* out_row_at(step_data const& s, int n, int y) const {
    return out + row_in_memory(s.destination, s.out, n, y) * out_row;
  }

  finisher<K.after, K.target> finish;
  float const* in;
  float* out;
  float const* weights;
  long in_pixel, in_row, out_pixel, out_row;
  int channels;
  bool crosses_lines;  ///< stores of results do
};

/// Bit i, i < bits, is set when 0 <= start + i < extent.
AGO_INLINE unsigned bits_inside(int start, int extent, int bits) {
  tap_range const r = taps_inside(start, 1, bits, extent);
  return unsigned((1ull << r.last) - (1ull << r.first));
}

/// For windows known at compile time. A register tile holds `K.tile.vectors` rows by `K.tile.pixels` columns of
/// results for one vector of channels; every input row is read once, while its weights are in registers.
template <kernel_key K>
class depthwise_tile {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I), kh = K.kernel_h, kw = K.kernel_w, sh = K.stride_h, sw = K.stride_w;

 public:
  static constexpr int rows = K.tile.vectors, columns = K.tile.pixels;
  depthwise_memory<K> at;
  depthwise_tile(step_data const& s, kernel_memory const& m) : at(s, m) {}

  /// Advances to the output rows from oy on of image n, up to row `end`.
  AGO_INLINE void row(step_data const& s, int n, int oy, int end) {
    int const iy = oy * sh - s.win.pad_top;
    in_rows_ = bits_inside(iy, s.in.h, in_rows);
    out_rows_ = end - oy < rows ? end - oy : rows;
    AGO_UNROLL(32)
    for (int r = 0; r < in_rows; ++r) in_[r] = in_rows_ >> r & 1 ? at.in_row_at(s, n, iy + r) : at.in;
    AGO_UNROLL(32)
    for (int y = 0; y < rows; ++y) out_[y] = at.out_row_at(s, n, y < out_rows_ ? oy + y : oy);
    pixel_ = (long(n) * s.out.h + oy) * s.out.w;
    if constexpr (K.fetches_ahead) next_ = ahead_ + oy * sh * at.in_row;
  }

  /// The rows that output row 0 would prefetch; see kernel_key::fetches_ahead.
  AGO_INLINE void fetch_from(float const* rows_ahead) { ahead_ = rows_ahead; }

  /// Computes output columns from ox on of these rows, for vectors first ... last - 1 of channels; returns how many
  /// columns. Columns that are left at the end of a row, and those whose window lies more than half outside the image,
  /// are computed one by one.
  AGO_INLINE int tile(step_data const& s, int ox, int first, int last) {
    int const ix = ox * sw - s.win.pad_left;
    if constexpr (columns > 1)
      if (ox + columns <= s.out.w && ix >= -(kw / 2) && ix + in_columns(columns) - s.in.w <= kw / 2) {
        vectors<columns>(s, ox, first, last);
        return columns;
      }
    vectors<1>(s, ox, first, last);
    return 1;
  }

 private:
  static constexpr int in_rows = (rows - 1) * sh + kh;
  static constexpr int in_columns(int out_columns) { return (out_columns - 1) * sw + kw; }
  static_assert(in_rows <= 32 && in_columns(columns) <= 32, "masks have 32 bits");

  template <int Columns>
  AGO_INLINE void vectors(step_data const& s, int ox, int first, int last) {
    int const ix = ox * sw - s.win.pad_left;
    in_columns_ = bits_inside(ix, s.in.w, in_columns(Columns));
    long const in = ix * at.in_pixel, out = ox * at.out_pixel;
    int const whole = K.partial && last * V > at.channels ? last - 1 : last;
    if constexpr (is_scheduled_by_hand(I)) {
      if (first < whole) {
        using loop = typename depthwise_loop<K, Columns>::type;
        typename loop::area t{{},          {},        at.in_pixel, at.out_pixel, in_rows_,
                              in_columns_, out_rows_, pixel_ + ox, s.out.w};
        AGO_UNROLL(32)
        for (int r = 0; r < in_rows; ++r) t.in[r] = in_[r] + (in_columns_ ? in : 0);
        AGO_UNROLL(32)
        for (int y = 0; y < rows; ++y) t.out[y] = out_[y] + out;
        loop::run(t, at.weights, at.finish, first, whole);
      }
    } else {
      AGO_UNROLL(1)
      for (int v = first; v < whole; ++v) compute<Columns, false>(in, out, pixel_ + ox, s.out.w, v);
    }
    if constexpr (K.partial)
      if (whole < last) compute<Columns, true>(in, out, pixel_ + ox, s.out.w, whole);
  }

  /// Computes one vector of channels. `in`, `out`: distance of the tile's first pixel from the start of its row; that
  /// of the input may be outside the image.
  template <int Columns, bool Partial>
  AGO_INLINE void compute(long in, long out, long pixel, int width, int v) const {
    constexpr int width_in = in_columns(Columns), sides = Columns > 1 ? kw / 2 : kw;  // sides may be outside the image
    int const channel = v * V, count = Partial ? at.channels - channel : V;
    float const* const weights = at.weights + long(channel) * (kh * kw + 1);
    fetch_ahead<I, (kh * kw + 1) * V, rows * columns * kh * kw>(weights);
    if (!Partial && at.crosses_lines) {
      AGO_UNROLL(32)
      for (int y = 0; y < rows; ++y) fetch_ends<I, Columns>(out_[y] + (out + channel), at.out_pixel);
    }
    if constexpr (K.fetches_ahead)
      if (V >= line_floats || channel % line_floats == 0) fetch_ahead_of<Columns>(next_ + in + channel);
    vec<I> sum[rows][Columns], w[kh][kw];
    vec<I> const shift = vec<I>::load(weights + kh * kw * V);
    AGO_UNROLL(32)
    for (int y = 0; y < rows; ++y) {
      AGO_UNROLL(32)
      for (int x = 0; x < Columns; ++x) sum[y][x] = shift;
    }
    AGO_UNROLL(32)
    for (int r = 0; r < in_rows; ++r) {
      if (r < kh) {
        AGO_UNROLL(32)
        for (int kx = 0; kx < kw; ++kx) {
          w[r][kx] = vec<I>::load(weights + (r * kw + kx) * V);
          pin(w[r][kx]);
        }
      }
      if (!(in_rows_ >> r & 1)) continue;
      float const* p = in_[r] + in + channel;
      AGO_UNROLL(32)
      for (int c = 0; c < width_in; ++c, p += at.in_pixel) {
        pin(p);
        if ((c < sides || c >= width_in - sides) && !(in_columns_ >> c & 1)) continue;
        vec<I> x = Partial ? vec<I>::load(p, count) : vec<I>::load(p);
        pin(x);
        accumulate(sum, w, x, r, c);
      }
    }
    AGO_UNROLL(32)
    for (int y = 0; y < rows; ++y, pixel += width) {
      if (y >= out_rows_) continue;
      float* p = out_[y] + out + channel;
      if constexpr (is_lengthy(K.after)) {
        vec<I> results[Columns][1];
        AGO_UNROLL(32)
        for (int x = 0; x < Columns; ++x) results[x][0] = sum[y][x];
        finish_apart(at.finish, results, Columns, {p, at.out_pixel, pixel, 1, channel, count});
        continue;
      }
      AGO_UNROLL(32)
      for (int x = 0; x < Columns; ++x, p += at.out_pixel) {
        pin(p);
        if constexpr (Partial) at.finish(sum[y][x], pixel + x, channel, count).store(p, count);
        else at.finish(sum[y][x], pixel + x, channel).store(p);
      }
    }
  }

  /// As many lines as a tile reads that no other does.
  template <int Columns>
  AGO_INLINE void fetch_ahead_of(float const* p) const {
    AGO_UNROLL(8)
    for (int r = 0; r < rows * sh; ++r) {
      AGO_UNROLL(16)
      for (int c = 0; c < Columns * sw; ++c) __builtin_prefetch(p + r * at.in_row + c * at.in_pixel, 0, 2);
    }
  }

  /// Adds input (r, c) of the tile to every result whose window contains it.
  template <int Columns>
  AGO_INLINE static void accumulate(vec<I> (&sum)[rows][Columns], vec<I> const (&w)[kh][kw], vec<I> x, int r, int c) {
    AGO_UNROLL(32)
    for (int ky = 0; ky < kh; ++ky) {
      int const y = r - ky;
      if (y < 0 || y % sh != 0 || y / sh >= rows) continue;
      AGO_UNROLL(32)
      for (int kx = 0; kx < kw; ++kx) {
        int const z = c - kx;
        if (z < 0 || z % sw != 0 || z / sw >= Columns) continue;
        sum[y / sh][z / sw] = fma(x, w[ky][kx], sum[y / sh][z / sw]);
      }
    }
  }

  unsigned in_rows_, in_columns_;  ///< bit i: row or column i of the tile's input is inside the image
  int out_rows_;                   ///< rows of the tile that exist
  float const* in_[in_rows];       ///< the tile's input rows; those outside the image are not read
  float* out_[rows];
  long pixel_;
  float const *ahead_, *next_;  ///< see fetch_from; that of these rows
};

/// For any window, which is taken from the data. Computes `K.tile.pixels` columns at a time where their windows are
/// inside the image, and one at a time at its sides.
template <kernel_key K>
class depthwise_window {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I);

 public:
  static constexpr int rows = 1, columns = K.tile.pixels;
  depthwise_memory<K> at;
  depthwise_window(step_data const& s, kernel_memory const& m) : at(s, m) {}

  AGO_INLINE void row(step_data const& s, int n, int oy, int) {
    image_ = n;
    top_ = oy * s.win.stride_h - s.win.pad_top;
    ky_ = taps_inside(top_, s.win.dilation_h, s.win.kernel_h, s.in.h);
    out_ = at.out_row_at(s, n, oy);
    pixel_ = (long(n) * s.out.h + oy) * s.out.w;
  }
  AGO_INLINE int tile(step_data const& s, int ox, int first, int last) {
    window const& w = s.win;
    int const ix = ox * w.stride_w - w.pad_left;
    if constexpr (columns > 1)
      if (ix >= 0 && ix + (columns - 1) * w.stride_w + w.span_w() <= s.in.w && ox + columns <= s.out.w) {
        vectors<columns>(s, ox, {0, w.kernel_w}, first, last);
        return columns;
      }
    vectors<1>(s, ox, taps_inside(ix, w.dilation_w, w.kernel_w, s.in.w), first, last);
    return 1;
  }

 private:
  template <int Columns>
  void vectors(step_data const& s, int ox, tap_range kx, int first, int last) const {
    int const whole = K.partial && last * V > at.channels ? last - 1 : last;
    for (int v = first; v < whole; ++v) compute<Columns, false>(s, ox, kx, v);
    if constexpr (K.partial)
      if (whole < last) compute<Columns, true>(s, ox, kx, whole);
  }

  /// Computes `Columns` results of one vector of channels.
  template <int Columns, bool Partial>
  AGO_INLINE void compute(step_data const& s, int ox, tap_range kx, int v) const {
    int const channel = v * V, count = Partial ? at.channels - channel : V;
    int const taps = s.win.kernel_h * s.win.kernel_w;
    float const* const weights = at.weights + long(channel) * (taps + 1);
    long const in = (long(ox) * s.win.stride_w - s.win.pad_left) * at.in_pixel + channel;
    long const next = s.win.stride_w * at.in_pixel;
    vec<I> sum[Columns];
    AGO_UNROLL(32)
    for (auto& x : sum) x = vec<I>::load(weights + taps * V);
    for (int y = ky_.first; y < ky_.last; ++y) {
      float const* p =
          at.in_row_at(s, image_, top_ + y * s.win.dilation_h) + in + long(kx.first) * s.win.dilation_w * at.in_pixel;
      float const* w = weights + (y * s.win.kernel_w + kx.first) * V;
      for (int x = kx.first; x < kx.last; ++x, p += s.win.dilation_w * at.in_pixel, w += V) {
        vec<I> const weight = vec<I>::load(w);
        AGO_UNROLL(32)
        for (int c = 0; c < Columns; ++c)
          sum[c] = fma(Partial ? vec<I>::load(p + c * next, count) : vec<I>::load(p + c * next), weight, sum[c]);
      }
    }
    long const pixel = pixel_ + ox;
    float* const out = out_ + ox * at.out_pixel + channel;
    AGO_UNROLL(32)
    for (int c = 0; c < Columns; ++c) {
      if constexpr (Partial) at.finish(sum[c], pixel + c, channel, count).store(out + c * at.out_pixel, count);
      else at.finish(sum[c], pixel + c, channel).store(out + c * at.out_pixel);
    }
  }

  tap_range ky_;     ///< rows of the window on the image
  int image_, top_;  ///< `top_`: first input row of the window, which may be outside the image
  float* out_;
  long pixel_;
};

template <kernel_key K, bool KnownWindow = (K.kernel_h > 0)>
struct depthwise_method {
  using type = depthwise_tile<K>;
};
template <kernel_key K>
struct depthwise_method<K, false> {
  using type = depthwise_window<K>;
};

/// The taps of an output are added in the order (ky, kx), whatever the tile; those outside the image are omitted.
/// Each pass over the image computes `block` vectors of channels, so that the input rows in use stay in L1.
template <kernel_key K>
struct depthwise_kernel {
  static constexpr int rows_at_once = K.tile.vectors;

  static void run(step_data const& s, kernel_memory const& m) {
    for (int n = 0; n < s.out.n; ++n) rows(s, m, n, 0, s.out.h);
  }

  /// Output rows first_row ... last_row - 1 of image n.
  [[gnu::noinline]] static void rows(step_data const& s, kernel_memory const& m, int n, int first_row, int last_row) {
    using method = typename depthwise_method<K>::type;
    method work(s, m);
    int const begin = s.channels.first / lanes(K.target);
    int const end = padded(s.channels.last > 0 ? s.channels.last : s.out.c, K.target) / lanes(K.target);
    int const block = s.block > 0 ? s.block : end;
    work.at.finish.image(s, m, n);
    if constexpr (K.fetches_ahead) {
      int const end = (last_row - 1) * s.win.stride_h - s.win.pad_top + s.win.kernel_h;  // of the rows that are there
      work.fetch_from(row_of_part_before(s, m, n, (end < s.in.h ? end : s.in.h) - first_row * s.win.stride_h));
    }
    for (int first = begin; first < end; first += block) {
      int const last = first + block < end ? first + block : end;
      for (int oy = first_row; oy < last_row; oy += method::rows) {
        work.row(s, n, oy, last_row);
        AGO_UNROLL(1)
        for (int ox = 0; ox < s.out.w;) ox += work.tile(s, ox, first, last);
      }
    }
  }
};

}  // namespace ago::kernel
