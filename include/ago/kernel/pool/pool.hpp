// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling over windows and over the whole image, channels across the lanes of a register.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/window_taps.hpp>

#include <limits>

namespace ago::kernel {

constexpr bool takes_max(structure what) {
  if (what == structure::max_pool || what == structure::global_max_pool) return true;
  if (what == structure::avg_pool || what == structure::global_avg_pool) return false;
  no_case_for_this_value();
}

/// The initial value of a reduction.
template <kernel_key K>
AGO_INLINE vec<K.target> neutral() {
  return vec<K.target>(takes_max(K.what) ? -std::numeric_limits<float>::infinity() : 0.f);
}
template <kernel_key K>
AGO_INLINE vec<K.target> combine(vec<K.target> a, vec<K.target> b) {
  if constexpr (takes_max(K.what)) return max(a, b);
  else return a + b;
}
template <isa I, bool Partial>
AGO_INLINE vec<I> load(float const* p, [[maybe_unused]] int count) {
  if constexpr (Partial) return vec<I>::load(p, count);
  else return vec<I>::load(p);
}
template <kernel_key K, bool Partial>
AGO_INLINE void finish_and_store(finisher<K.after, K.target> const& finish, vec<K.target> x, float* p, long pixel,
                                 int channel, [[maybe_unused]] int count) {
  if constexpr (Partial) finish(x, pixel, channel, count).store(p, count);
  else finish(x, pixel, channel).store(p);
}

/// The taps of one window that are inside the image, and the factor of the result.
struct pool_window {
  tap_range rows, columns;
  float factor;
};

AGO_INLINE pool_window pool_window_at(step_data const& s, int oy, int ox) {
  window const& w = s.win;
  int const iy = oy * w.stride_h - w.pad_top, ix = ox * w.stride_w - w.pad_left;
  tap_range const rows = taps_inside(iy, w.dilation_h, w.kernel_h, s.in.h);
  tap_range const columns = taps_inside(ix, w.dilation_w, w.kernel_w, s.in.w);
  int divisor = rows.count() * columns.count();
  if (s.count_pads)  // the image with its pads; a window that extends beyond them in ceil mode is clipped
    divisor = taps_inside(iy + w.pad_top, w.dilation_h, w.kernel_h, s.in.h + w.pad_top + w.pad_bottom).count() *
              taps_inside(ix + w.pad_left, w.dilation_w, w.kernel_w, s.in.w + w.pad_left + w.pad_right).count();
  return {rows, columns, divisor > 0 ? 1.f / float(divisor) : 0.f};
}

/// Pooling over windows. For a window without pixels the maximum is -infinity, the average 0.
template <kernel_key K>
struct window_pool {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I);

  /// Output rows first ... last - 1 of image n.
  static void rows(step_data const& s, kernel_memory const& m, int n, int first, int last) {
    finisher<K.after, I> finish(s, m);
    float const* const in = address(s.source, m);
    finish.image(s, m, n);
    for (int oy = first; oy < last; ++oy) {
      long pixel = (long(n) * s.out.h + oy) * s.out.w;
      float* out = mutable_address(s.destination, m) +
                   row_in_memory(s.destination, s.out, n, oy) * s.out.w * s.destination.pixel_stride;
      for (int ox = 0; ox < s.out.w; ++ox, ++pixel, out += s.destination.pixel_stride) {
        pool_window const w = pool_window_at(s, oy, ox);
        window_of_image const from{in, n, int(oy * s.win.stride_h - s.win.pad_top + w.rows.first * s.win.dilation_h),
                                   ox * s.win.stride_w - s.win.pad_left + w.columns.first * s.win.dilation_w};
        int c = 0;
        for (; c + 4 * V <= s.out.c; c += 4 * V) reduce<4, false>(s, w, finish, from, out + c, pixel, c);
        for (; c + V <= s.out.c; c += V) reduce<1, false>(s, w, finish, from, out + c, pixel, c);
        if constexpr (K.partial)
          if (c < s.out.c) reduce<1, true>(s, w, finish, from, out + c, pixel, c);
      }
    }
  }

 private:
  /// The first tap of a window inside the image.
  struct window_of_image {
    float const* in;
    int n, y;
    long x;
  };

  /// Computes `vectors` registers of channels of one window.
  template <int vectors, bool Partial>
  AGO_INLINE static void reduce(step_data const& s, pool_window const& w, finisher<K.after, I> const& finish,
                                window_of_image const& from, float* out, long pixel, int channel) {
    long const right = long(s.win.dilation_w) * s.source.pixel_stride;
    int const count = s.out.c - channel;
    vec<I> sum[vectors];
    AGO_UNROLL(4)
    for (auto& x : sum) x = neutral<K>();
    for (int ky = 0; ky < w.rows.count(); ++ky) {
      long const row = row_in_memory(s.source, s.in, from.n, from.y + ky * s.win.dilation_h);
      float const* p = from.in + (row * s.in.w + from.x) * s.source.pixel_stride + channel;
      for (int kx = 0; kx < w.columns.count(); ++kx, p += right) {
        AGO_UNROLL(4)
        for (int v = 0; v < vectors; ++v) sum[v] = combine<K>(sum[v], load<I, Partial>(p + v * V, count));
      }
    }
    AGO_UNROLL(4)
    for (int v = 0; v < vectors; ++v) {
      if constexpr (!takes_max(K.what)) sum[v] = sum[v] * vec<I>(w.factor);
      finish_and_store<K, Partial>(finish, sum[v], out + v * V, pixel, channel + v * V, count);
    }
  }
};

/// Computes all images with a method that computes rows.
template <class Rows>
struct pool_of_images : Rows {
  static void run(step_data const& s, kernel_memory const& m) {
    for (int n = 0; n < s.out.n; ++n) Rows::rows(s, m, n, 0, s.out.h);
  }
};

/// Pooling over all pixels of an image. Each block of 64 pixels is summed in 2 or 4 chains, and the sums of the blocks
/// are added with compensation (Kahan 1965). Whatever the number of pixels, the error of an average is below 40 units
/// of 2^-24, relative to the mean of |x|.
template <kernel_key K>
struct global_reduction {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I), block = 64, chains = V == 4 ? 2 : 4;

  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, I> finish(s, m);
    long const pixels = long(s.in.h) * s.in.w;
    float const* in = address(s.source, m);
    float* out = mutable_address(s.destination, m);
    constexpr int line = 16 / V;  // vectors in a cache line
    for (int n = 0; n < s.out.n; ++n, in += pixels * s.source.pixel_stride, out += s.destination.pixel_stride) {
      finish.image(s, m, n);
      int c = 0;
      if constexpr (line > 1 && V > 1)
        for (; c + line * V <= s.out.c; c += line * V) reduce<line, false>(s, finish, in + c, out + c, pixels, n, c);
      for (; c + V <= s.out.c; c += V) reduce<1, false>(s, finish, in + c, out + c, pixels, n, c);
      if constexpr (K.partial)
        if (c < s.out.c) reduce<1, true>(s, finish, in + c, out + c, pixels, n, c);
    }
  }

 private:
  /// Reduces `vectors` registers of channels over all pixels of image n.
  template <int vectors, bool Partial>
  AGO_INLINE static void reduce(step_data const& s, finisher<K.after, I> const& finish, float const* in, float* out,
                                long pixels, int n, int channel) {
    int const count = s.out.c - channel;
    vec<I> total[vectors], lost[vectors];
    for (int v = 0; v < vectors; ++v) {
      total[v] = neutral<K>();
      lost[v] = vec<I>(0.f);
    }
    for (long i = 0; i < pixels; i += block) {
      vec<I> sum[vectors];
      long const end = pixels - i < block ? pixels : i + block;
      reduce_block<vectors, Partial>(in + i * s.source.pixel_stride, end - i, s.source.pixel_stride, count, sum);
      for (int v = 0; v < vectors; ++v) {
        if constexpr (takes_max(K.what)) {
          total[v] = max(total[v], sum[v]);
        } else {
          vec<I> const x = sum[v] - lost[v], next = total[v] + x;
          lost[v] = (next - total[v]) - x;
          total[v] = next;
        }
      }
    }
    for (int v = 0; v < vectors; ++v) {
      if constexpr (!takes_max(K.what)) total[v] = total[v] * vec<I>(1.f / float(pixels));
      finish_and_store<K, Partial>(finish, total[v], out + v * V, n, channel + v * V, count);
    }
  }

  /// Reduces `pixels` pixels in several chains, and joins these.
  template <int vectors, bool Partial>
  AGO_INLINE static void reduce_block(float const* p, long pixels, long stride, int count, vec<I> (&sum)[vectors]) {
    vec<I> chain[chains][vectors];
    AGO_UNROLL(4)
    for (auto& x : chain) {
      AGO_UNROLL(4)
      for (auto& y : x) y = neutral<K>();
    }
    long i = 0;
    // A line of each pixel is no stream that Arm's prefetchers follow. Of two lines the first one was read before, with
    // the channels that precede these.
    [[maybe_unused]] constexpr long ahead = 8;
    for (; i + chains <= pixels; i += chains, p += chains * stride) {
      AGO_UNROLL(4)
      for (int j = 0; j < chains; ++j) {
        if constexpr (is_scheduled_by_hand(I)) __builtin_prefetch(p + (j + ahead) * stride + vectors * V - 1);
        AGO_UNROLL(4)
        for (int v = 0; v < vectors; ++v)
          chain[j][v] = combine<K>(chain[j][v], load<I, Partial>(p + j * stride + v * V, count));
      }
    }
    for (; i < pixels; ++i, p += stride)
      for (int v = 0; v < vectors; ++v) chain[0][v] = combine<K>(chain[0][v], load<I, Partial>(p + v * V, count));
    for (int v = 0; v < vectors; ++v) {
      sum[v] = chain[0][v];
      for (int j = 1; j < chains; ++j) sum[v] = combine<K>(sum[v], chain[j][v]);
    }
  }
};

template <kernel_key K> struct avg_pool_kernel : pool_of_images<window_pool<K>> {};
template <kernel_key K> struct global_max_pool_kernel : global_reduction<K> {};
template <kernel_key K> struct global_avg_pool_kernel : global_reduction<K> {};

}  // namespace ago::kernel
