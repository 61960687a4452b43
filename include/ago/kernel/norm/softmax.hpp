// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax over the channels of every pixel.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/simd/reduce.hpp>
#include <ago/simd/register_run.hpp>

#include <limits>

namespace ago::kernel {

/// The first `count` floats at p, and minus infinity in the lanes after them.
template <isa I>
AGO_INLINE vec<I> load_exponents(float const* p, int count) {
  return count == lanes(I) ? vec<I>::load(p) : vec<I>::load(p, count) + minus_infinity_behind<I>(count);
}

/// The largest of `count` floats.
template <isa I>
AGO_INLINE float row_max(float const* row, int count) {
  vec<I> most(-std::numeric_limits<float>::infinity());
  register_run<I>(count).each([&](int i, int valid)
                                  AGO_INLINE_LAMBDA { most = max(most, load_exponents<I>(row + i, valid)); });
  return max_of_lanes(most);
}

/// to[i] = exp(row[i] - most), for i < count; returns their sum. Expects that no row[i] exceeds `most`.
template <isa I>
AGO_INLINE float row_exp(float const* row, float most, float* to, int count) {
  vec<I> sum(0.f);
  register_run<I>(count).each([&](int i, int valid) AGO_INLINE_LAMBDA {
    vec<I> const x = exp_of_negative(load_exponents<I>(row + i, valid) - vec<I>(most));
    store_lanes(x, to + i, valid);
    sum = sum + x;
  });
  return sum_of_lanes(sum);
}

/// out[pixel, c] = epilogue(exp(in[pixel, c] - most) / sum over c of the same), where `most` is the largest of the
/// pixel's channels. NaN if a channel is NaN or plus infinity, or if all are minus infinity. Largest error, before the
/// epilogue: (8 + c / lanes + most - in[pixel, c]) * 2^-24 of the result, and 2e-38 absolute.
template <kernel_key K>
struct softmax_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, I> const finish(s, m);
    float const* const in = address(s.source, m);
    float* const out = mutable_address(s.destination, m);
    int const c = s.out.c;
    long const from = s.source.pixel_stride, to = s.destination.pixel_stride, pixels = s.out.pixels();
    // Several pixels at a time, because pixels in the same loop do not wait for each other.
    float most[together], sum[together];
    for (long first = 0; first < pixels; first += together) {
      int const count = pixels - first < together ? int(pixels - first) : together;
      for (int i = 0; i < count; ++i) most[i] = row_max<I>(in + (first + i) * from, c);
      for (int i = 0; i < count; ++i) sum[i] = row_exp<I>(in + (first + i) * from, most[i], out + (first + i) * to, c);
      for (int i = 0; i < count; ++i) {
        float* const row = out + (first + i) * to;
        vec<I> const factor(1.f / sum[i]);
        simd::register_run<I>(c).each([&](int k, int valid) AGO_INLINE_LAMBDA {
          vec<I> const x = finish(simd::load_lanes<I>(row + k, valid) * factor, first + i, k, valid);
          simd::store_lanes(x, row + k, valid);
        });
      }
    }
  }

 private:
  static constexpr isa I = K.target;
  static constexpr int together = 8;
};

}  // namespace ago::kernel
