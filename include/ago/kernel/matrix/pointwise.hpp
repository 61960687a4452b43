// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix product over pixels: 1x1 convolution and linear.
#pragma once

#include <ago/kernel/matrix/gather.hpp>
#include <ago/kernel/matrix/layout.hpp>
#include <ago/kernel/matrix/transposed_product.hpp>
#include <ago/kernel/tile.hpp>

namespace ago::kernel {

/// A run of pixels. `first`: index of the first one in the whole value, which the epilogue uses.
struct pixel_run {
  float const* source;
  float* destination;
  long first, count;
  long from;                     ///< index of the first one in the source's memory, which in_runs uses
  float const* ahead = nullptr;  ///< what is prefetched, if the key says so
};

/// The key of the product of what was gathered.
constexpr kernel_key key_of_gathered(kernel_key k) {
  k.gathers = k.in_runs = false;
  return k;
}

/// out[pixel, o] = epilogue(shift[o] + sum over k of in[pixel, k] * weight[k, o]), for all n * h * w pixels. Weights in
/// matrix_layout. With in_runs a pixel's channels consist of several segments. Expects tile.pixels_left ==
/// pixels % tile.pixels, and vectors_left likewise. If it gathers, blocks of the input are first copied into scratch of
/// block x portion.last floats, with the block rounded up to whole tiles; if it accumulates as well, these are portions
/// of K, the result holds partial sums meanwhile, and the additions are the same in the same order.
template <kernel_key K>
struct pointwise_kernel {
  static constexpr isa target = K.target;
  static constexpr bool reads_row_by_row = true;
  static_assert(!(K.accumulates && (K.paired || (K.in_runs && !K.gathers))));
  static_assert(!K.transposed || (K.tile.pixels == 4 && K.tile.pixels_left == 0 && !K.accumulates && !K.paired));

  /// Computes the whole value; if it gathers, a block of pixels and a portion of K at a time.
  static void run(step_data const& s, kernel_memory const& m) {
    if constexpr (K.gathers) run(s, m, m.arena + s.scratch);
    else pixels(s, m, pixels_at(s, m, 0, 0, 0, s.out.pixels()));
  }

  static void run(step_data const& s, kernel_memory const& m, float* scratch)
    requires(K.gathers)
  {
    step_data part = s;
    part.block = 0;
    part.source.pixel_stride = s.portion.last;
    long const count = s.out.pixels(), block = block_of(s, count);
    AGO_UNROLL(1)
    for (long first = 0; first < count; first += block) {
      pixel_run run = pixels_at(s, m, first, first, first, first + block < count ? block : count - first);
      AGO_UNROLL(1)
      for (int k = 0; k < s.in.c; k = part.portion.last) {
        part.portion = {k, k + s.portion.last < s.in.c ? k + s.portion.last : s.in.c};
        gather<K>(s, m, first, run.count, part.portion, scratch);
        run.source = scratch - k;  // channels are counted from the first one
        of_gathered::pixels(part, m, run);
      }
    }
  }

  /// Computes pixels first ... last - 1 of the value. Ring buffers hold pixels, and have room for whole runs. Expects
  /// all runs but the last of the value to consist of whole tiles.
  static void run_of(step_data const& s, kernel_memory const& m, long first, long last) {
    auto const slot = [=](place const& p) { return p.ring ? first % p.ring : first; };
    pixels(s, m, pixels_at(s, m, slot(s.source), slot(s.destination), first, last - first));
  }

  /// Computes image n. Ring buffers hold all rows of an image. Expects tile.pixels_left == out.h * out.w % tile.pixels.
  static void image(step_data const& s, kernel_memory const& m, int n) {
    long const count = long(s.out.h) * s.out.w, first = n * count;
    pixels(s, m, pixels_at(s, m, s.source.ring ? 0 : first, s.destination.ring ? 0 : first, first, count));
  }

  /// Computes output rows first ... last - 1 of image n. Expects tile.pixels_left == out.w % tile.pixels.
  static void rows(step_data const& s, kernel_memory const& m, int n, int first, int last) {
    int const together = K.tile.pixels_left == 0 ? last - first : 1;  // rows of whole tiles are one run of pixels
    for (int y = first; y < last;) {
      int end = y + together < last ? y + together : last;
      end = end_in_ring(s.source.ring, y, end_in_ring(s.destination.ring, y, end));
      long const row = long(n) * s.out.h + y, width = s.out.w;
      auto const slot = [=](place const& p) { return (p.ring ? y % p.ring : row) * width; };
      pixel_run run = pixels_at(s, m, slot(s.source), slot(s.destination), row * width, (end - y) * width);
      if constexpr (K.fetches_ahead) run.ahead = row_of_part_before(s, m, n, last + (y - first));
      pixels(s, m, run);
      y = end;
    }
  }

 private:
  using pixel_run = kernel::pixel_run;
  /// Kernels that differ only in the number of panels share the code of a panel.
  template <kernel_key>
  friend struct pointwise_kernel;
  using shared = pointwise_kernel<key_of_panels(K)>;
  using of_gathered = pointwise_kernel<key_of_gathered(K)>;

  /// `from`, `to`: the pixels at which the run begins in the memory of source and destination.
  AGO_INLINE static pixel_run pixels_at(step_data const& s, kernel_memory const& m, long from, long to, long first,
                                        long count) {
    return {address(s.source, m) + from * s.source.pixel_stride,
            mutable_address(s.destination, m) + to * s.destination.pixel_stride, first, count, from};
  }

  /// The end of the rows y ... end - 1 that are contiguous in a ring buffer.
  static int end_in_ring(int ring, int y, int end) {
    int const wrap = ring ? y - y % ring + ring : end;
    return end < wrap ? end : wrap;
  }

  /// Pixels of a block: whole tiles.
  AGO_INLINE static long block_of(step_data const& s, long count) {
    return s.block <= 0 ? count : (s.block + K.tile.pixels - 1) / K.tile.pixels * K.tile.pixels;
  }

  AGO_INLINE static void pixels(step_data const& s, kernel_memory const& m, pixel_run const& all) {
    matrix_layout const layout = layout_of_matrix(K, s);
    int const end = s.channels.last > 0 ? s.channels.last : s.out.c;
    int const panels = layout.padded_channels / layout.panel * layout.panel, whole = panels < end ? panels : end;
    long const block = block_of(s, all.count);
    AGO_UNROLL(1)
    for (long first = 0; first < all.count; first += block) {
      pixel_run run = all;
      run.source += first * s.source.pixel_stride;
      run.destination += first * s.destination.pixel_stride;
      run.first += first;
      run.from += first;
      if constexpr (K.fetches_ahead) run.ahead += first * s.in.c;
      run.count = first + block < all.count ? block : all.count - first;
      AGO_UNROLL(1)
      for (int channel = s.channels.first; channel < whole; channel += layout.panel)
        shared::template panel<K.tile.vectors, K.partial && K.tile.vectors_left == 0>(s, m, run, channel);
      if constexpr (K.tile.vectors_left > 0)
        if (end > panels) shared::template panel<K.tile.vectors_left, K.partial>(s, m, run, panels);
    }
  }

  /// Prefetches the first line of a segment of each pixel: they are more streams than Arm's prefetchers follow.
  template <int PIXELS>
  AGO_INLINE static void fetch_run(input_run const& next, kernel_memory const& m, long pixel) {
    if constexpr (is_scheduled_by_hand(target)) {
      float const* line = address(next.at, m) + pixel * next.at.pixel_stride;
      AGO_UNROLL(1)
      for (int p = 0; p < PIXELS; ++p, line += next.at.pixel_stride) simd::fetch_line<target>(line);
    }
  }

  /// Computes VECTORS vectors of output channels of a run of pixels, from `channel` on.
  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(step_data const& s, kernel_memory const& m, pixel_run const& run, int channel) {
    constexpr int steps = K.paired ? 2 : 1, results = (VECTORS + steps - 1) / steps;
    constexpr bool partial = PARTIAL || VECTORS % steps != 0;
    float const* const packed = m.weights + s.weights;
    float const* const weights = packed + layout_of_matrix(K, s).panel_offset(channel);
    float const* const shift = packed + channel * steps;
    float const* const source = run.source;
    float* const destination = run.destination + channel;
    int const end = channel + VECTORS * lanes(target) / steps;
    int const count = (end < s.out.c ? end : s.out.c) - channel - (results - 1) * lanes(target);
    int const depth = s.in.c;
    long const source_stride = s.source.pixel_stride, destination_stride = s.destination.pixel_stride;
    finisher<K.after, target> const after(s, m);

    auto const tile = [&]<int PIXELS>(long pixel) AGO_INLINE_LAMBDA {
      [[maybe_unused]] vec<target> acc[PIXELS][VECTORS];
      float const* const a = source + pixel * source_stride;
      tile_target const to{
          destination + pixel * destination_stride, destination_stride, run.first + pixel, 1, channel, count};
      if constexpr (K.accumulates || K.in_runs || K.paired) {
        int const first = K.accumulates ? s.portion.first : 0, last = K.accumulates ? s.portion.last : depth;
        auto const add = [&](float const* from, long stride, int count, float const* w) AGO_INLINE_LAMBDA {
          if constexpr (K.paired) accumulate_pairs(from, stride, count, w, acc);
          else accumulate<form_of(K)>(from, stride, count, w, acc);
        };
        float const* const next = a + PIXELS * source_stride + first;
        if (first > 0) resume<partial>(to, next, source_stride, count, acc);
        else start<form_of(K)>(shift, to, next, source_stride, acc);
        if constexpr (K.in_runs) {
          float const* w = weights;
          AGO_UNROLL(1)
          for (int r = 0; r < s.run_count; ++r) {
            input_run const& in = m.run(s, r);
            long const stride = in.at.pixel_stride;
            if (r + 1 < s.run_count) fetch_run<PIXELS>(m.run(s, r + 1), m, run.from + pixel);
            add(address(in.at, m) + (run.from + pixel) * stride, stride, in.count, w);
            w += (in.count + steps - 1L) / steps * VECTORS * lanes(target);
          }
        } else {
          add(a + first, source_stride, last - first, weights + long(first) * VECTORS * lanes(target));
        }
        if constexpr (K.paired) {
          vec<target> sums[PIXELS][(VECTORS + 1) / 2];  // g++ 12 does not find `results` in some instantiations
          add_pairs(acc, sums);
          finish<partial>(after, sums, to);
        } else if (K.accumulates && last < depth) {
          finish<partial>(finisher<epilogue{}, target>(s, m), acc, to);
        } else {
          finish<partial>(after, acc, to);
        }
      } else {
        // Panels after the first one have nothing left to prefetch.
        bool const fetches = K.fetches_ahead && channel == s.channels.first;
        compute_tile<form_of(K), partial, PIXELS, VECTORS>(after, shift, a, source_stride, depth, weights, to,
                                                           fetches ? run.ahead + pixel * depth : a);
      }
    };
    long pixel = 0;
    if constexpr (K.transposed) {
      AGO_UNROLL(1)
      for (; pixel < run.count; pixel += 4)
        compute_transposed_tile<partial, VECTORS>(
            after, shift, source + pixel * source_stride, depth, weights,
            {destination + pixel * destination_stride, destination_stride, run.first + pixel, 1, channel, count});
      return;
    }
    AGO_UNROLL(1)
    for (; pixel + K.tile.pixels <= run.count; pixel += K.tile.pixels) tile.template operator()<K.tile.pixels>(pixel);
    if constexpr (K.tile.pixels_left > 0)
      if (pixel < run.count) tile.template operator()<K.tile.pixels_left>(pixel);
  }
};

}  // namespace ago::kernel
