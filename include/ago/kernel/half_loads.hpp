// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products for cores that issue in order, see half_order.
#pragma once

#include <ago/kernel/half_order.hpp>
#include <ago/simd/in_order_counters.hpp>
#include <ago/simd/lanes.hpp>

#include <utility>

namespace ago::kernel {

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
    else if constexpr (c.what == kind::input || c.what == kind::second)
      load_input<2>(s.x[c.index], s.pixel[c.index], s.bytes);
    else if constexpr (c.what == kind::fetch) fetch_line<I, half_order<P, V>::bytes_ahead + 64 * c.index>(s.w);
    else if constexpr (c.what == kind::count) subtract_one(s.left);
    else if constexpr (c.what == kind::mask) sign_mask(s.last, s.left);
    else if constexpr (c.what == kind::select_weights) bits_without(s.weights_step, step, s.last);
    else if constexpr (c.what == kind::advance_weights) add_bytes(s.next, s.weights_step);
    else if constexpr (c.what == kind::skip_bytes) add_constant<8>(s.bytes);
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
  multiply_lane<use / V % 2>(s.acc[p][use % V], s.weight[use % half_order<P, V>::registers], s.x[p]);
  accompany<half_order_of<P, V>.begin[SLOT], half_order_of<P, V>.begin[SLOT + 1], false>(s);
}

/// Adds the steps of K of `count` iterations.
template <isa I, int P, int V>
AGO_INLINE void accumulate_iterations(float const* const (&pixel)[P], int count, float const* w, vec<I> (&acc)[P][V]) {
  half_state<I, P, V> s(pixel, count, w, acc);
  accompany<0, half_order_of<P, V>.count, true>(s);
  AGO_UNROLL(1)
  do {
    [&]<int... S>(std::integer_sequence<int, S...>)
        AGO_INLINE_LAMBDA { (issue<S>(s), ...); }(std::make_integer_sequence<int, half_order<P, V>::slots>{});
  } while (s.left >= 0);
}

/// The same for one pixel, whose weights are all loaded for a single use. Of three registers of weights, two are loaded
/// whole, which takes two cycles each, in which nothing else issues. The third is loaded and multiplied in halves; its
/// loads issue beside the multiply-adds of the two, its multiply-adds together. So three take seven cycles instead of
/// nine with whole loads and six with halves; and where two pipes multiply two cycles, instead of 1.5 and three.
template <isa I, int V>
class one_pixel {
 public:
  static constexpr int steps = half_loop_steps(1, V);  ///< of K in an iteration

  AGO_INLINE static void accumulate(float const* pixel, int count, float const* w, vec<I> (&acc)[V]) {
    state s;
    AGO_UNROLL(32)
    for (int v = 0; v < V; ++v) s.sum[v] = acc[v];
    AGO_UNROLL(32)
    for (int g = 0; g < groups; ++g) upper_to_lower(s.high_sum[g], s.sum[halved(g)]);
    load_low<0>(s, w);
    load_high<0>(s, w);
    load_half<0>(s.x[0], pixel);
    AGO_UNROLL(1)
    for (; count > 0; --count) {
      // The last iteration reloads what it already has, so that nothing beyond the user's data is read.
      float const* next = w + (count > 1 ? steps * V * lanes(I) : 0);
      float const* next_pixel = pixel + (count > 1 ? steps : 0);
      pin(next);
      pin(next_pixel);
      load_half<1>(s.x[1], pixel);
      [&]<int... G>(std::integer_sequence<int, G...>) AGO_INLINE_LAMBDA {
        (use<G>(s, w, next), ...);
        load_half<0>(s.x[0], next_pixel);
        (use<G + 2 * groups>(s, w, next), ...);
      }(std::make_integer_sequence<int, 2 * groups>{});
      w = next;
      pixel = next_pixel;
    }
    AGO_UNROLL(32)
    for (int g = 0; g < groups; ++g) join(s.sum[halved(g)], s.high_sum[g]);
    AGO_UNROLL(32)
    for (int v = 0; v < V; ++v) acc[v] = s.sum[v];
  }

 private:
  static constexpr int groups = (V + 2) / 3;
  /// The last of a group.
  static constexpr int halved(int g) { return g == groups - 1 ? V - 1 : 3 * g + 2; }

  struct state {
    vec<I> sum[V], high_sum[groups], x[2], whole[2], low, high;
  };

  /// Loads half of the last weight of group number G of an iteration.
  template <int G>
  AGO_INLINE static void load_low(state& s, float const* w) {
    load_half<2 * (G / groups * V + halved(G % groups))>(s.low, w);
  }
  template <int G>
  AGO_INLINE static void load_high(state& s, float const* w) {
    load_half<2 * (G / groups * V + halved(G % groups)) + 1>(s.high, w);
  }

  /// Uses group number G of an iteration, and loads the halves of the following one.
  template <int G>
  AGO_INLINE static void use(state& s, float const* w, float const* next) {
    constexpr int k = G / groups, g = G % groups, first = 3 * g, last = halved(g);
    constexpr int following = (G + 1) % (steps * groups);
    float const* const coming = following == 0 ? next : w;
    vec<I> const& x = s.x[k / 2];
    if constexpr (last > first) load_vector<k * V + first>(s.whole[0], w);
    if constexpr (last > first + 1) load_vector<k * V + first + 1>(s.whole[1], w);
    multiply_half_lane<k % 2>(s.sum[last], s.low, x);
    if constexpr (last < first + 2) load_low<following>(s, coming);
    multiply_half_lane<k % 2>(s.high_sum[g], s.high, x);
    if constexpr (last < first + 2) load_high<following>(s, coming);
    if constexpr (last > first) multiply_lane<k % 2>(s.sum[first], s.whole[0], x);
    if constexpr (last > first + 1) {
      load_low<following>(s, coming);
      multiply_lane<k % 2>(s.sum[first + 1], s.whole[1], x);
      load_high<following>(s, coming);
    }
  }
};

/// See accumulate().
template <isa I, int P, int V>
AGO_INLINE void accumulate_halves(float const* a, long a_stride, int depth, float const* w, vec<I> (&acc)[P][V]) {
  float const* pixel[P];
  AGO_UNROLL(32)
  for (int p = 0; p < P; ++p) {
    pixel[p] = a + p * a_stride;
    pin(pixel[p]);
  }
  constexpr int steps = half_loop_steps(P, V);
  if (depth >= steps) {  // a window may be in the padding only
    if constexpr (P == 1) one_pixel<I, V>::accumulate(a, depth / steps, w, acc[0]);
    else accumulate_iterations(pixel, depth / steps, w, acc);
  }
  if constexpr (steps == 2) {
    if (depth % 2) accumulate_one(pixel, depth - 1, w + (depth - 1L) * V * lanes(I), acc);
  } else {
    int k = depth / steps * steps;
    w += long(k) * V * lanes(I);
    AGO_UNROLL(1)
    for (; k < depth; ++k, w += V * lanes(I)) accumulate_one(pixel, k, w, acc);
  }
}

}  // namespace ago::kernel
