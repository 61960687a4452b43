// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer norm: normalises every pixel to mean 0 and variance 1 over its channels, then scales and shifts each channel.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/norm/pack.hpp>
#include <ago/simd/reduce.hpp>
#include <ago/simd/register_run.hpp>

#include <cmath>

namespace ago::kernel {

/// out[pixel, c] = epilogue((in[pixel, c] - mean) / sqrt(variance + epsilon) * gamma[c] + beta[c]), with mean and
/// (biased) variance over the channels of the pixel. Weights as packed by pack_layer_norm.
///
/// The variance is that of x - m, where m is the rounded mean: however far the values are from 0, their differences
/// from m are almost exact, and the mean of the differences is the rounding error of m. Largest error, before the
/// epilogue: 2^-24 * ((8 + 2 c / lanes) * (|result - beta| + |gamma|) + |result|).
template <kernel_key K>
struct layer_norm_kernel {
  /// Four pixels at a time, because their operations do not wait for each other. (On Zen 5 they take 0.5 to 0.7 times
  /// as long as one after another.)
  static void run(step_data const& s, kernel_memory const& m) {
    constexpr int together = 4;
    finisher<K.after, I> const finish(s, m);
    long const pixels = s.out.pixels();
    long first = 0;
    for (; first + together <= pixels; first += together) normalise<together>(s, m, finish, first);
    for (; first < pixels; ++first) normalise<1>(s, m, finish, first);
  }

 private:
  static constexpr isa I = K.target;

  /// Normalises PIXELS pixels, from pixel `first` on.
  template <int PIXELS>
  static void normalise(step_data const& s, kernel_memory const& m, finisher<K.after, I> const& finish, long first) {
    int const c = s.out.c;
    float const epsilon = m.details(s).alpha;
    long const from = s.source.pixel_stride, to = s.destination.pixel_stride;
    float const* const in = address(s.source, m) + first * from;
    float* const out = mutable_address(s.destination, m) + first * to;
    float const* const gamma = m.weights + s.weights;
    float const* const beta = gamma + padded(c, I);
    simd::register_run<I> const channels(c);
    // For each pixel: the rounded mean, the mean of the differences from it, 1 / sqrt(variance + epsilon).
    vec<I> center[PIXELS], rest[PIXELS], scale[PIXELS], sum[PIXELS], squares[PIXELS];
    for (vec<I>& x : sum) x = vec<I>(0.f);
    channels.each([&](int k, int valid) AGO_INLINE_LAMBDA {
      AGO_UNROLL(8)
      for (int i = 0; i < PIXELS; ++i) sum[i] = sum[i] + simd::load_lanes<I>(in + i * from + k, valid);
    });
    AGO_UNROLL(8)
    for (int i = 0; i < PIXELS; ++i) {
      center[i] = vec<I>(sum_of_lanes(sum[i]) / float(c));
      sum[i] = squares[i] = vec<I>(0.f);
    }
    channels.each([&](int k, int valid) AGO_INLINE_LAMBDA {
      AGO_UNROLL(8)
      for (int i = 0; i < PIXELS; ++i) {
        vec<I> x = simd::load_lanes<I>(in + i * from + k, valid) - center[i];
        if (valid < lanes(I)) x = x * simd::ones_before<I>(valid);
        sum[i] = sum[i] + x;
        squares[i] = fma(x, x, squares[i]);
      }
    });
    AGO_UNROLL(8)
    for (int i = 0; i < PIXELS; ++i) {
      float const mean = sum_of_lanes(sum[i]) / float(c);
      float const variance = sum_of_lanes(squares[i]) / float(c) - mean * mean;
      rest[i] = vec<I>(mean);
      scale[i] = vec<I>(1.f / std::sqrt((variance > 0 ? variance : 0) + epsilon));
    }
    channels.each([&](int k, int valid) AGO_INLINE_LAMBDA {
      vec<I> const by = vec<I>::load(gamma + k), plus = vec<I>::load(beta + k);
      vec<I> x[PIXELS];  // all, before the first is stored: compilers move no load across a store
      AGO_UNROLL(8)
      for (int i = 0; i < PIXELS; ++i) {
        x[i] = ((simd::load_lanes<I>(in + i * from + k, valid) - center[i]) - rest[i]) * scale[i];
        x[i] = finish(fma(x[i], by, plus), first + i, k, valid);
      }
      AGO_UNROLL(8)
      for (int i = 0; i < PIXELS; ++i) simd::store_lanes(x[i], out + i * to + k, valid);
    });
  }
};

}  // namespace ago::kernel
