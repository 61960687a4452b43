// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products for instruction sets that can multiply a register by one lane of another: one load
// fetches four steps of K of a pixel.
#pragma once

#include <ago/simd/in_order.hpp>

#include <utility>

namespace ago::simd {

/// Four steps of K multiply 4 * VECTORS weights, one after another, by all pixels. The weights use `registers`
/// registers in rotation; each weight is loaded while those before it are used.
template <int PIXELS, int VECTORS>
struct lane_order {
  static constexpr int uses = 4 * VECTORS;
  static constexpr int registers = PIXELS * (VECTORS + 1) + 4 <= 30 ? 4 : 2;
  /// The last two weights are used together, so that each input is multiplied twice before it is overwritten.
  static constexpr bool pairs = registers == 4 && VECTORS > 1;
};

/// Loads the weight that is used `registers - 1` uses later; those of the next four steps are at `next`.
template <int USE, int USES, isa I, int N>
AGO_INLINE void load_ahead(float const* w, float const* next, vec<I> (&weight)[N]) {
  constexpr int ahead = USE + N - 1;
  if constexpr (ahead < USES) load_vector<ahead>(weight[ahead % N], w);
  else load_vector<ahead - USES>(weight[ahead % N], next);
}

/// Uses one weight. The last use also loads the inputs of the next four steps, from pixel[p] + bytes.
template <int USE, isa I, int N, int PIXELS, int VECTORS>
AGO_INLINE void use_weight(float const* w, float const* next, float const* const (&pixel)[PIXELS], long bytes,
                           vec<I> (&weight)[N], vec<I> (&x)[PIXELS], vec<I> (&acc)[PIXELS][VECTORS]) {
  using order = lane_order<PIXELS, VECTORS>;
  constexpr bool pair = order::pairs && USE == order::uses - 2, last = pair || USE == order::uses - 1;
  if constexpr (order::pairs && USE == order::uses - 1) return;
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    multiply_lane<USE / VECTORS>(acc[p][USE % VECTORS], weight[USE % N], x[p]);
    if (p == (PIXELS > 1)) load_ahead<USE, order::uses>(w, next, weight);
    if constexpr (pair) multiply_lane<3>(acc[p][VECTORS - 1], weight[(USE + 1) % N], x[p]);
    if constexpr (last) load_input<4>(x[p], pixel[p], bytes);
  }
  if constexpr (pair) load_ahead<USE + 1, order::uses>(w, next, weight);
}

/// Adds four steps of K, `count` times.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_fours(float const* const (&pixel)[PIXELS], int count, float const* w,
                                 vec<I> (&acc)[PIXELS][VECTORS]) {
  using order = lane_order<PIXELS, VECTORS>;
  vec<I> x[PIXELS], weight[order::registers];
  [&]<int... U>(std::integer_sequence<int, U...>) AGO_INLINE_LAMBDA {
    (load_vector<U>(weight[U], w), ...);
  }(std::make_integer_sequence<int, order::registers - 1>{});
  long bytes = 0;
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) load_input<4>(x[p], pixel[p], bytes);
  AGO_UNROLL(1)
  for (; count > 0; --count) {
    bytes += count > 1 ? 16 : 0;  // the last iteration reloads its inputs, so that nothing beyond them is read
    float const* next = w + (count > 1 ? order::uses * lanes(I) : 0);
    pin(next);
    [&]<int... U>(std::integer_sequence<int, U...>) AGO_INLINE_LAMBDA {
      (use_weight<U>(w, next, pixel, bytes, weight, x, acc), ...);
    }(std::make_integer_sequence<int, order::uses>{});
    w = next;
  }
}

/// The same for one pixel, each of whose weights is used once, so that loading them two at a time leaves fewer
/// instructions. A core that executes out of order needs no loads ahead here.
template <isa I, int VECTORS>
AGO_INLINE void accumulate_fours_of_one(float const* pixel, int count, float const* w, vec<I> (&acc)[1][VECTORS]) {
  constexpr int uses = 4 * VECTORS;
  long bytes = 0;
  AGO_UNROLL(1)
  for (; count > 0; --count, bytes += 16, w += uses * lanes(I)) {
    vec<I> x, weight[4];
    load_input<4>(x, pixel, bytes);
    auto const two = [&]<int U>() AGO_INLINE_LAMBDA {
      load_vectors<U>(weight[U % 4], weight[U % 4 + 1], w);
      multiply_lane<U / VECTORS>(acc[0][U % VECTORS], weight[U % 4], x);
      multiply_lane<(U + 1) / VECTORS>(acc[0][(U + 1) % VECTORS], weight[U % 4 + 1], x);
    };
    [&]<int... U>(std::integer_sequence<int, U...>)
        AGO_INLINE_LAMBDA { (two.template operator()<2 * U>(), ...); }(std::make_integer_sequence<int, uses / 2>{});
    pin(w);
  }
}

/// Adds step k of K.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_one(float const* const (&pixel)[PIXELS], long k, float const* w,
                               vec<I> (&acc)[PIXELS][VECTORS]) {
  vec<I> x[PIXELS], weight;
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) load_input<1>(x[p], pixel[p], 4 * k);
  [&]<int... V>(std::integer_sequence<int, V...>) AGO_INLINE_LAMBDA {
    auto const one = [&]<int U>() AGO_INLINE_LAMBDA {
      load_vector<U>(weight, w);
      AGO_UNROLL(32)
      for (int p = 0; p < PIXELS; ++p) multiply_lane<0>(acc[p][U], weight, x[p]);
    };
    (one.template operator()<V>(), ...);
  }(std::make_integer_sequence<int, VECTORS>{});
}

/// Uses weight USE of those of STEPS steps of K. The last use of four steps also loads the next inputs.
template <int USE, int STEPS, isa I, int N, int PIXELS, int VECTORS>
AGO_INLINE void use_known(float const* w, float const* const (&pixel)[PIXELS], vec<I> (&weight)[N], vec<I> (&x)[PIXELS],
                          vec<I> (&acc)[PIXELS][VECTORS]) {
  using order = lane_order<PIXELS, VECTORS>;
  constexpr int uses = STEPS * VECTORS, four = USE / order::uses, within = USE % order::uses, next = 4 * (four + 1);
  constexpr bool whole = next <= STEPS, pair = order::pairs && whole && within == order::uses - 2;
  constexpr bool last = pair || within == order::uses - 1;
  if constexpr (order::pairs && whole && within == order::uses - 1) return;
  auto const load = [&]<int U>() AGO_INLINE_LAMBDA {
    constexpr int ahead = U + N - 1;
    if constexpr (ahead < uses) load_vector<ahead>(weight[ahead % N], w);
  };
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    multiply_lane<within / VECTORS>(acc[p][USE % VECTORS], weight[USE % N], x[p]);
    if (p == (PIXELS > 1)) load.template operator()<USE>();
    if constexpr (pair) multiply_lane<3>(acc[p][VECTORS - 1], weight[(USE + 1) % N], x[p]);
    if constexpr (last && next + 4 <= STEPS) load_vector<four + 1>(x[p], pixel[p]);
    else if constexpr (last && next < STEPS) load_lane<next>(x[p], pixel[p]);
  }
  if constexpr (pair) load.template operator()<USE + 1>();
}

/// accumulate_lanes() for STEPS steps of K, as many as a row of an image's window has: without a loop, whose first and
/// last iteration load more than they use.
template <int STEPS, isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_known(float const* a, long a_stride, float const* w, vec<I> (&acc)[PIXELS][VECTORS]) {
  static_assert(STEPS >= 4 && STEPS % 4 < 2);
  constexpr int ahead = lane_order<PIXELS, VECTORS>::registers - 1;
  float const* pixel[PIXELS];
  vec<I> x[PIXELS], weight[ahead + 1];
  [&]<int... U>(std::integer_sequence<int, U...>)
      AGO_INLINE_LAMBDA { (load_vector<U>(weight[U], w), ...); }(std::make_integer_sequence<int, ahead>{});
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p, a += a_stride) {
    pixel[p] = a;
    pin(pixel[p]);
    load_vector<0>(x[p], pixel[p]);
  }
  [&]<int... U>(std::integer_sequence<int, U...>) AGO_INLINE_LAMBDA {
    (use_known<U, STEPS>(w, pixel, weight, x, acc), ...);
  }(std::make_integer_sequence<int, STEPS * VECTORS>{});
}

/// See accumulate().
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_lanes(float const* a, long a_stride, int depth, float const* w,
                                 vec<I> (&acc)[PIXELS][VECTORS]) {
  float const* pixel[PIXELS];
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    pixel[p] = a + p * a_stride;
    pin(pixel[p]);
  }
  int const whole = depth / 4 * 4;
  if constexpr (PIXELS == 1) accumulate_fours_of_one(pixel[0], depth / 4, w, acc);
  else if (whole > 0) accumulate_fours(pixel, depth / 4, w, acc);
  w += long(whole) * VECTORS * lanes(I);
  AGO_UNROLL(1)
  for (long k = whole; k < depth; ++k, w += VECTORS * lanes(I)) accumulate_one(pixel, k, w, acc);
}

}  // namespace ago::simd
