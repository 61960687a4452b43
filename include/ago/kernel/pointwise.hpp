// Matrix product over pixels: 1x1 convolution and linear.
#pragma once

#include <ago/kernel/tile.hpp>
#include <ago/plan/packing.hpp>

namespace ago {

/// out[pixel, o] = epilogue(shift[o] + sum over k of in[pixel, k] * weight[k, o]), for all n * h * w pixels. Weights as
/// matrix_layout has them. Expects tile.pixels_left == pixels % tile.pixels, and vectors_left likewise.
template <kernel_key K>
struct pointwise_kernel {
  static constexpr isa target = K.target;

  static void run(step_data const& s, run_memory const& m) {
    pixels(s, m, {detail::address(s.source, m), detail::mutable_address(s.destination, m), 0, s.out.pixels()});
  }

  /// Output rows first ... last - 1 of image n. Expects tile.pixels_left == out.w % tile.pixels.
  static void rows(step_data const& s, run_memory const& m, int n, int first, int last) {
    int const together = K.tile.pixels_left == 0 ? last - first : 1;  // rows of whole tiles are one run of pixels
    for (int y = first; y < last;) {
      int end = y + together < last ? y + together : last;
      end = end_in_ring(s.source.ring, y, end_in_ring(s.destination.ring, y, end));
      long const row = long(n) * s.out.h + y, width = s.out.w;
      float const* const source =
          detail::address(s.source, m) + (s.source.ring ? y % s.source.ring : row) * width * s.source.pixel_stride;
      float* const destination =
          detail::mutable_address(s.destination, m) +
          (s.destination.ring ? y % s.destination.ring : row) * width * s.destination.pixel_stride;
      pixels(s, m, {source, destination, row * width, (end - y) * width});
      y = end;
    }
  }

 private:
  /// A run of pixels: `first` is the number of the first one in the whole value, which the epilogue goes by.
  struct pixel_run {
    float const* source;
    float* destination;
    long first, count;
  };

  /// Rows y ... end - 1 as far as they follow one another in a ring.
  static int end_in_ring(int ring, int y, int end) {
    int const wrap = ring ? y - y % ring + ring : end;
    return end < wrap ? end : wrap;
  }

  AGO_INLINE static void pixels(step_data const& s, run_memory const& m, pixel_run const& all) {
    constexpr int panel_channels = K.tile.vectors * lanes(target);
    long const block = s.block <= 0 ? all.count : (s.block + K.tile.pixels - 1) / K.tile.pixels * K.tile.pixels;
    int const whole = padded(s.out.c, target) / panel_channels * panel_channels;
    _Pragma("GCC unroll 1") for (long first = 0; first < all.count; first += block) {
      pixel_run run = all;
      run.source += first * s.source.pixel_stride;
      run.destination += first * s.destination.pixel_stride;
      run.first += first;
      run.count = first + block < all.count ? block : all.count - first;
      _Pragma("GCC unroll 1") for (int channel = 0; channel < whole; channel += panel_channels)
        panel<K.tile.vectors, K.partial && K.tile.vectors_left == 0>(s, m, run, channel);
      if constexpr (K.tile.vectors_left > 0) panel<K.tile.vectors_left, K.partial>(s, m, run, whole);
    }
  }

  /// The output channels channel ... channel + VECTORS * lanes of a run of pixels.
  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(step_data const& s, run_memory const& m, pixel_run const& run, int channel) {
    float const* const packed = m.weights + s.weights;
    float const* const weights = packed + layout_of_matrix(K, s).panel_offset(channel);
    float const* const source = run.source;
    float* const destination = run.destination + channel;
    int const rest = s.out.c - channel - (VECTORS - 1) * lanes(target);
    int const count = rest < lanes(target) ? rest : lanes(target);
    int const depth = s.in.c;
    long const source_stride = s.source.pixel_stride, destination_stride = s.destination.pixel_stride;
    finisher<K.after, target> const after(s, m);

    auto const tile = [&]<int PIXELS>(long pixel) __attribute__((always_inline)) {
      vec<target> acc[PIXELS][VECTORS];
      start(packed + channel, acc);
      accumulate(source + pixel * source_stride, source_stride, depth, weights, acc);
      finish<PARTIAL>(
          after, acc,
          {destination + pixel * destination_stride, destination_stride, run.first + pixel, 1, channel, count});
    };
    long pixel = 0;
    _Pragma("GCC unroll 1") for (; pixel + K.tile.pixels <= run.count; pixel += K.tile.pixels)
      tile.template operator()<K.tile.pixels>(pixel);
    if constexpr (K.tile.pixels_left > 0)
      if (pixel < run.count) tile.template operator()<K.tile.pixels_left>(pixel);
  }
};

}  // namespace ago
