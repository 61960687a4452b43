// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products for cores that issue in order, see half_order.
#pragma once

#include <ago/kernel/half_order.hpp>
#include <ago/kernel/in_order_counters.hpp>
#include <ago/kernel/lanes.hpp>

#include <utility>

namespace ago::detail {

/// What the loop keeps in registers.
template <isa I, int PIXELS, int VECTORS>
struct half_state {
  using order = half_order<PIXELS, VECTORS>;
  float const* const (&pixel)[PIXELS];
  vec<I> (&acc)[PIXELS][VECTORS];
  vec<I> x[PIXELS], weight[order::registers];
  upper_half high[order::uses];
  float const *w, *next;
  long bytes = 0, left, last, weights_step, bytes_step;

  AGO_INLINE half_state(float const* const (&pixels)[PIXELS], int count, float const* weights,
                        vec<I> (&sums)[PIXELS][VECTORS])
      : pixel(pixels), acc(sums), w(weights), next(weights), left(count - 1) {}
};

/// Issues companions INDEX ... END - 1; if PROLOGUE, only loads, of the first iteration.
template <int INDEX, int END, bool PROLOGUE, isa I, int P, int V>
AGO_INLINE void accompany(half_state<I, P, V>& s) {
  if constexpr (INDEX < END) {
    using kind = companion::kind;
    constexpr companion c = half_order_of<P, V>.all[INDEX];
    constexpr int register_of = c.index % half_order<P, V>::registers;
    constexpr long step = half_order<P, V>::uses * lanes(I) * long(sizeof(float));
    [[maybe_unused]] float const* const w = c.next ? s.next : s.w;
    if constexpr (PROLOGUE && !(c.next && is_load(c))) {
    } else if constexpr (c.what == kind::high) load_high<I, c.index>(s.high[c.index], w);
    else if constexpr (c.what == kind::low) load_half<2 * c.index>(s.weight[register_of], w);
    else if constexpr (c.what == kind::join) join(s.weight[register_of], s.high[c.index]);
    else if constexpr (c.what == kind::input) load_input<2>(s.x[c.index], s.pixel[c.index], s.bytes);
    else if constexpr (c.what == kind::fetch) fetch_line<I, half_order<P, V>::bytes_ahead + 64 * c.index>(s.w);
    else if constexpr (c.what == kind::count) subtract_one(s.left);
    else if constexpr (c.what == kind::mask) sign_mask(s.last, s.left);
    else if constexpr (c.what == kind::select_weights) bits_without(s.weights_step, step, s.last);
    else if constexpr (c.what == kind::advance_weights) add_bytes(s.next, s.weights_step);
    else if constexpr (c.what == kind::select_bytes) bits_without(s.bytes_step, 8, s.last);
    else if constexpr (c.what == kind::advance_bytes) add_bytes(s.bytes, s.bytes_step);
    else if constexpr (c.what == kind::move_weights) copy(s.w, s.next);
    accompany<INDEX + 1, END, PROLOGUE>(s);
  }
}

/// Multiply-add number SLOT of an iteration, and its companions.
template <int SLOT, isa I, int P, int V>
AGO_INLINE void issue(half_state<I, P, V>& s) {
  constexpr int use = SLOT / P, p = SLOT % P;
  multiply_lane<use / V>(s.acc[p][use % V], s.weight[use % half_order<P, V>::registers], s.x[p]);
  accompany<half_order_of<P, V>.begin[SLOT], half_order_of<P, V>.begin[SLOT + 1], false>(s);
}

/// Adds two steps of K, `count` times.
template <isa I, int P, int V>
AGO_INLINE void accumulate_twos(float const* const (&pixel)[P], int count, float const* w, vec<I> (&acc)[P][V]) {
  half_state<I, P, V> s(pixel, count, w, acc);
  accompany<0, half_order_of<P, V>.count, true>(s);
  _Pragma("GCC unroll 1") do {
    [&]<int... S>(std::integer_sequence<int, S...>) __attribute__((always_inline)) {
      (issue<S>(s), ...);
    }(std::make_integer_sequence<int, half_order<P, V>::slots>{});
  } while (s.left >= 0);
}

/// The same for one pixel, whose weights are all loaded for a single use: halves of weights by multiply-adds of two
/// floats, which issue beside the loads.
template <isa I, int V>
class one_pixel {
 public:
  static constexpr int halves = 4 * V, ahead = 3;  ///< in an iteration; loaded before one is used

  AGO_INLINE static void accumulate(float const* pixel, int count, float const* w, vec<I> (&low)[V]) {
    vec<I> high[V], weight[ahead + 1], x, next_x;
    _Pragma("GCC unroll 32") for (int v = 0; v < V; ++v) upper_to_lower(high[v], low[v]);
    [&]<int... H>(std::integer_sequence<int, H...>) __attribute__((always_inline)) {
      (load_half<H>(weight[H], w), ...);
    }(std::make_integer_sequence<int, ahead>{});
    long bytes = 0;
    load_input<2>(x, pixel, bytes);
    _Pragma("GCC unroll 1") for (; count > 0; --count) {
      bytes += count > 1 ? 8 : 0;
      float const* next = w + (count > 1 ? 2 * halves : 0);
      pin(next);
      load_input<2>(next_x, pixel, bytes);
      [&]<int... H>(std::integer_sequence<int, H...>) __attribute__((always_inline)) {
        (use<H>(w, next, weight, x, low, high), ...);
      }(std::make_integer_sequence<int, halves>{});
      set(x, next_x);
      w = next;
    }
    _Pragma("GCC unroll 32") for (int v = 0; v < V; ++v) join(low[v], high[v]);
  }

 private:
  template <int H>
  AGO_INLINE static void use(float const* w, float const* next, vec<I> (&weight)[ahead + 1], vec<I> const& x,
                             vec<I> (&low)[V], vec<I> (&high)[V]) {
    constexpr int number = H / 2, coming = (H + ahead) % halves;
    multiply_half_lane<number / V>(H % 2 ? high[number % V] : low[number % V], weight[H % (ahead + 1)], x);
    load_half<coming>(weight[(H + ahead) % (ahead + 1)], H + ahead < halves ? w : next);
  }
};

/// See accumulate().
template <isa I, int P, int V>
AGO_INLINE void accumulate_halves(float const* a, long a_stride, int depth, float const* w, vec<I> (&acc)[P][V]) {
  float const* pixel[P];
  _Pragma("GCC unroll 32") for (int p = 0; p < P; ++p) {
    pixel[p] = a + p * a_stride;
    pin(pixel[p]);
  }
  if (depth >= 2) {  // a window may be in the padding only
    if constexpr (P == 1) one_pixel<I, V>::accumulate(a, depth / 2, w, acc[0]);
    else accumulate_twos(pixel, depth / 2, w, acc);
  }
  if (depth % 2) accumulate_one(pixel, depth - 1, w + (depth - 1L) * V * lanes(I), acc);
}

}  // namespace ago::detail
