// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products for instruction sets that can multiply a register by one lane of another: one load
// fetches four steps of K of a pixel.
#pragma once

#include <ago/kernel/in_order.hpp>

#include <utility>

namespace ago::detail {

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
  _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) {
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
  [&]<int... U>(std::integer_sequence<int, U...>) __attribute__((always_inline)) {
    (load_vector<U>(weight[U], w), ...);
  }(std::make_integer_sequence<int, order::registers - 1>{});
  long bytes = 0;
  _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) load_input<4>(x[p], pixel[p], bytes);
  _Pragma("GCC unroll 1") for (; count > 0; --count) {
    bytes += count > 1 ? 16 : 0;  // the last iteration reloads its inputs, so that nothing beyond them is read
    float const* next = w + (count > 1 ? order::uses * lanes(I) : 0);
    pin(next);
    [&]<int... U>(std::integer_sequence<int, U...>) __attribute__((always_inline)) {
      (use_weight<U>(w, next, pixel, bytes, weight, x, acc), ...);
    }(std::make_integer_sequence<int, order::uses>{});
    w = next;
  }
}

/// Adds step k of K.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_one(float const* const (&pixel)[PIXELS], long k, float const* w,
                               vec<I> (&acc)[PIXELS][VECTORS]) {
  vec<I> x[PIXELS], weight;
  _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) load_input<1>(x[p], pixel[p], 4 * k);
  [&]<int... V>(std::integer_sequence<int, V...>) __attribute__((always_inline)) {
    auto const one = [&]<int U>() __attribute__((always_inline)) {
      load_vector<U>(weight, w);
      _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) multiply_lane<0>(acc[p][U], weight, x[p]);
    };
    (one.template operator()<V>(), ...);
  }(std::make_integer_sequence<int, VECTORS>{});
}

/// See accumulate().
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_lanes(float const* a, long a_stride, int depth, float const* w,
                                 vec<I> (&acc)[PIXELS][VECTORS]) {
  float const* pixel[PIXELS];
  _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) {
    pixel[p] = a + p * a_stride;
    pin(pixel[p]);
  }
  int const whole = depth / 4 * 4;
  if (whole > 0) accumulate_fours(pixel, depth / 4, w, acc);
  w += long(whole) * VECTORS * lanes(I);
  _Pragma("GCC unroll 1") for (long k = whole; k < depth; ++k, w += VECTORS * lanes(I))
    accumulate_one(pixel, k, w, acc);
}

}  // namespace ago::detail
