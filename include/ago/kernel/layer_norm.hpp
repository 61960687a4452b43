// Layer norm: every pixel brought to mean 0 and variance 1 over its channels, then scaled and shifted for each channel.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/reduce.hpp>
#include <ago/kernel/register_run.hpp>
#include <ago/plan/packing.hpp>

#include <cmath>

namespace ago {

/// Writes gamma[padded c], beta[padded c] to `to`, zeros behind the channels. `from.weight`, `from.shift`: offsets of
/// gamma and beta; without them 1 and 0.
template <isa I>
void pack_layer_norm(step_data const& s, parameter_source const& from, float const* blob, float* to) {
  int const channels = padded(s.out.c, I);
  for (int c = 0; c < channels; ++c) {
    bool const exists = c < s.out.c;
    to[c] = !exists ? 0.f : from.weight < 0 ? 1.f : blob[from.weight + c];
    to[channels + c] = !exists || from.shift < 0 ? 0.f : blob[from.shift + c];
  }
}

/// out[pixel, c] = epilogue((in[pixel, c] - mean) / sqrt(variance + alpha) * gamma[c] + beta[c]), mean and (biased)
/// variance over the channels of the pixel. Packed weights as pack_layer_norm has them.
///
/// The variance is that of x - m, with m the mean as rounded: however far the values are from 0, their differences from
/// m are exact or nearly so, and the mean of the differences is what m lacks. Largest error, before the epilogue:
/// 2^-24 * ((8 + 2 c / lanes) * (|result - beta| + |gamma|) + |result|).
template <kernel_key K>
struct layer_norm_kernel {
  static void run(step_data const& s, run_memory const& m) {
    finisher<K.after, I> const finish(s, m);
    float const* const in = detail::address(s.source, m);
    float* const out = detail::mutable_address(s.destination, m);
    float const* const gamma = m.weights + s.weights;
    float const* const beta = gamma + padded(s.out.c, I);
    int const c = s.out.c;
    long const from = s.source.pixel_stride, to = s.destination.pixel_stride, pixels = s.out.pixels();
    // Some pixels at a time, one loop after another: those of one loop do not wait for each other.
    float mean[together];
    moments of[together];
    for (long first = 0; first < pixels; first += together) {
      int const count = pixels - first < together ? int(pixels - first) : together;
      for (int i = 0; i < count; ++i) mean[i] = row_sum(in + (first + i) * from, c) / float(c);
      for (int i = 0; i < count; ++i) of[i] = row_moments(in + (first + i) * from, mean[i], c, s.alpha);
      for (int i = 0; i < count; ++i) {
        float const* const row = in + (first + i) * from;
        float* const result = out + (first + i) * to;
        vec<I> const center(mean[i]), rest(of[i].rest), scale(of[i].scale);
        detail::register_run<I>(c).each([&](int k, int valid) __attribute__((always_inline)) {
          vec<I> x = ((detail::load_lanes<I>(row + k, valid) - center) - rest) * scale;
          x = fma(x, vec<I>::load(gamma + k), vec<I>::load(beta + k));
          detail::store_lanes(finish(x, first + i, k, valid), result + k, valid);
        });
      }
    }
  }

 private:
  static constexpr isa I = K.target;
  static constexpr int together = 8;

  /// Of the differences from the rounded mean: their mean, and 1 / sqrt(variance + epsilon).
  struct moments {
    float rest, scale;
  };

  AGO_INLINE static float row_sum(float const* row, int count) {
    vec<I> sum(0.f);
    detail::register_run<I>(count).each(
        [&](int i, int valid) __attribute__((always_inline)) { sum = sum + detail::load_lanes<I>(row + i, valid); });
    return sum_of_lanes(sum);
  }
  AGO_INLINE static moments row_moments(float const* row, float mean, int count, float epsilon) {
    vec<I> const center(mean);
    vec<I> sum(0.f), squares(0.f);
    detail::register_run<I>(count).each([&](int i, int valid) __attribute__((always_inline)) {
      vec<I> x = detail::load_lanes<I>(row + i, valid) - center;
      if (valid < lanes(I)) x = x * detail::ones_before<I>(valid);
      sum = sum + x;
      squares = fma(x, x, squares);
    });
    float const rest = sum_of_lanes(sum) / float(count);
    float const variance = sum_of_lanes(squares) / float(count) - rest * rest;
    return {rest, 1.f / std::sqrt((variance > 0 ? variance : 0) + epsilon)};
  }
};

}  // namespace ago
