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
    constexpr int panel_channels = K.tile.vectors * lanes(target);
    long const pixels = s.out.pixels();
    long const block = s.block <= 0 ? pixels : (s.block + K.tile.pixels - 1) / K.tile.pixels * K.tile.pixels;
    int const whole = padded(s.out.c, target) / panel_channels * panel_channels;
    _Pragma("GCC unroll 1") for (long first = 0; first < pixels; first += block) {
      long const last = first + block < pixels ? first + block : pixels;
      _Pragma("GCC unroll 1") for (int channel = 0; channel < whole; channel += panel_channels)
        panel<K.tile.vectors, K.partial && K.tile.vectors_left == 0>(s, m, first, last, channel);
      if constexpr (K.tile.vectors_left > 0) panel<K.tile.vectors_left, K.partial>(s, m, first, last, whole);
    }
  }

 private:
  /// Pixels first ... last of the output channels channel ... channel + VECTORS * lanes.
  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(step_data const& s, run_memory const& m, long first, long last, int channel) {
    float const* const packed = m.weights + s.weights;
    float const* const weights = packed + layout_of_matrix(K, s).panel_offset(channel);
    float const* const source = detail::address(s.source, m);
    float* const destination = detail::mutable_address(s.destination, m) + channel;
    int const rest = s.out.c - channel - (VECTORS - 1) * lanes(target);
    int const count = rest < lanes(target) ? rest : lanes(target);
    int const depth = s.in.c;
    long const source_stride = s.source.pixel_stride, destination_stride = s.destination.pixel_stride;
    finisher<K.after, target> const after(s, m);

    auto const tile = [&]<int PIXELS>(long pixel) __attribute__((always_inline)) {
      vec<target> acc[PIXELS][VECTORS];
      start(packed + channel, acc);
      accumulate(source + pixel * source_stride, source_stride, depth, weights, acc);
      finish<PARTIAL>(after, acc, {destination + pixel * destination_stride, destination_stride, pixel, 1, channel, count});
    };
    long pixel = first;
    _Pragma("GCC unroll 1") for (; pixel + K.tile.pixels <= last; pixel += K.tile.pixels)
      tile.template operator()<K.tile.pixels>(pixel);
    if constexpr (K.tile.pixels_left > 0)
      if (pixel < last) tile.template operator()<K.tile.pixels_left>(pixel);
  }
};

}  // namespace ago
