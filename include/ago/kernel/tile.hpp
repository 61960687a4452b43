// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile of all matrix products: pixels x vectors of accumulators, and the inner loop over K.
#pragma once

#include <ago/kernel/bounds.hpp>
#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/half_loads.hpp>
#include <ago/simd/fetch.hpp>
#include <ago/simd/pairs.hpp>
#include <ago/simd/spaced.hpp>

#include <utility>

namespace ago::kernel {

/// How the inner loop over K is written.
struct loop_form {
  bool fetches = false;   ///< prefetches a line with every step
  bool in_order = false;  ///< loads halves, see device::in_order
  bool into_l2 = false;   ///< what is prefetched is used so much later that in L1 it would replace what is used now

  AGO_INLINE void fetch(float const* p) const {
    if (into_l2) __builtin_prefetch(p, 0, 2);
    else __builtin_prefetch(p);
  }
};
constexpr loop_form form_of(kernel_key const& k) {
  return {k.fetches_input || k.fetches_ahead, k.in_order, k.fetches_ahead};
}

/// Loads one row of weights for PIXELS uses of each vector.
template <int PIXELS, isa I, int VECTORS>
AGO_INLINE void load_row(float const* w, vec<I> (&row)[VECTORS]) {
  AGO_UNROLL(32)
  for (int v = 0; v < VECTORS; ++v) {
    row[v] = vec<I>::load(w + v * lanes(I));
    if constexpr (PIXELS > 1) keep(row[v]);
  }
}

/// Prefetches a row of weights of this panel or the next, ahead of row `w`. Not for tiles of one pixel: their weights
/// already arrive as fast as memory allows, and prefetching them costs time (measured 5 %).
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void fetch_row(float const* w) {
  constexpr int row_floats = VECTORS * lanes(I);
  if constexpr (PIXELS > 1 && row_floats >= line_floats) fetch_ahead<I, row_floats, PIXELS * VECTORS>(w);
}

/// Adds to `acc` the products of `depth` consecutive floats of each pixel (pixel p starts at a + p * a_stride) and the
/// packed weights w[depth][VECTORS * lanes]. `next`: what is prefetched, if the form says so, in steps of `next_step`.
template <loop_form FORM = loop_form{}, isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate(float const* a, long a_stride, int depth, float const* w, vec<I> (&acc)[PIXELS][VECTORS],
                           [[maybe_unused]] float const* next = nullptr,
                           [[maybe_unused]] long next_step = simd::line_floats) {
  constexpr int row_floats = VECTORS * lanes(I);
  if constexpr (has_lane_fma(I) && FORM.in_order && loads_halves(PIXELS, VECTORS))
    return accumulate_halves(a, a_stride, depth, w, acc);
  else if constexpr (has_lane_fma(I)) return simd::accumulate_lanes(a, a_stride, depth, w, acc);
  int k = 0;
  if constexpr (VECTORS == 1 && PIXELS > 1) {  // the input is a memory operand, and tiles have many pixels
    spaced_pointers<float const, PIXELS> pixel(a, a_stride);
    AGO_UNROLL(1)
    for (; k < depth; ++k, w += row_floats, pixel += 1) {
      vec<I> const row = vec<I>::load(w);
      fetch_row<I, PIXELS, VECTORS>(w);
      if constexpr (FORM.fetches) FORM.fetch(next + k * next_step);
      AGO_UNROLL(32)
      for (int p = 0; p < PIXELS; ++p) acc[p][0] = fma(vec<I>(*pixel[p]), row, acc[p][0]);
    }
    return;
  }
  // Kept in registers: if there are few registers, clang computes them in every step (measured with AVX2: 3 %).
  long offset[PIXELS];
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    offset[p] = p * a_stride;
    if constexpr (vector_registers(I) == 16) pin(offset[p]);
  }
  // Not unrolled: unrolling gains nothing on an out-of-order core, and spoils g++'s register allocation.
  AGO_UNROLL(1)
  for (; k < depth; ++k, w += row_floats) {
    vec<I> row[VECTORS];
    load_row<PIXELS>(w, row);
    fetch_row<I, PIXELS, VECTORS>(w);
    if constexpr (FORM.fetches) FORM.fetch(next + k * next_step);
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      vec<I> const x(a[offset[p] + k]);
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(x, row[v], acc[p][v]);
    }
  }
}

/// The same as accumulate() with two steps of K in one register, see matrix_layout.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_pairs(float const* a, long a_stride, int depth, float const* w,
                                 vec<I> (&acc)[PIXELS][VECTORS]) {
  auto const step = [&]<bool HALF>(int k) AGO_INLINE_LAMBDA {
    vec<I> row[VECTORS];
    load_row<PIXELS>(w, row);
    fetch_row<I, PIXELS, VECTORS>(w);
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      float const* const x = a + p * a_stride + k;
      vec<I> const pair = HALF ? load_half_pair<I>(x) : load_pair<I>(x);
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(pair, row[v], acc[p][v]);
    }
    w += VECTORS * lanes(I);
  };
  int k = 0;
  AGO_UNROLL(1)
  for (; k + 2 <= depth; k += 2) step.template operator()<false>(k);
  if (k < depth) step.template operator()<true>(k);
}

/// Adds the two steps in each register of accumulate_pairs(); the results are half as many registers, of consecutive
/// channels.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void add_pairs(vec<I> const (&acc)[PIXELS][VECTORS], vec<I> (&sums)[PIXELS][(VECTORS + 1) / 2]) {
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    AGO_UNROLL(32)
    for (int v = 0; v < VECTORS; v += 2) sums[p][v / 2] = add_pairs(acc[p][v], acc[p][v + 1 < VECTORS ? v + 1 : v]);
  }
}

/// Starts every pixel's accumulators from the packed shift.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void start(float const* shift, vec<I> (&acc)[PIXELS][VECTORS]) {
  AGO_UNROLL(32)
  for (int v = 0; v < VECTORS; ++v) {
    vec<I> const x = vec<I>::load(shift + v * lanes(I));
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) acc[p][v] = x;
  }
}

/// The destination of a tile: pixel p of the tile is written to to + p * step, and is pixel number
/// index + p * index_step of the whole value.
struct tile_target {
  float* to;
  long step;
  long index, index_step;
  int channel;  ///< first channel of the tile, within the whole value
  int count;    ///< valid lanes of the last vector
};

/// start(); loops that are scheduled by hand also prefetch the lines that the results are written to, and the first
/// line of every pixel of the next tile, which begins at `next`. Prefetchers follow few streams at a time, and a tile
/// has two for each pixel. Big cores load every accumulator: a copy would occupy a pipe that multiplies.
template <loop_form FORM, isa I, int PIXELS, int VECTORS>
AGO_INLINE void start(float const* shift, tile_target const& t, float const* next, long next_stride,
                      vec<I> (&acc)[PIXELS][VECTORS]) {
  if constexpr (!is_scheduled_by_hand(I)) return start(shift, acc);
  constexpr int last = int(sizeof(float)) * (VECTORS * lanes(I) - 1);
  vec<I> x[VECTORS];
  if constexpr (FORM.in_order) {
    AGO_UNROLL(32)
    for (int v = 0; v < VECTORS; ++v) x[v] = vec<I>::load(shift + v * lanes(I));
  }
  auto const begin = [&]<int V>(vec<I>(&sums)[VECTORS]) AGO_INLINE_LAMBDA {
    if constexpr (V < VECTORS && FORM.in_order) simd::set(sums[V], x[V]);
    else if constexpr (V < VECTORS) simd::load_vector<V>(sums[V], shift);
  };
  float const* to = t.to;
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p, to += t.step, next += next_stride) {
    begin.template operator()<0>(acc[p]);
    simd::fetch_line_to_write<I>(to);
    begin.template operator()<1>(acc[p]);
    simd::fetch_line<I>(next);
    begin.template operator()<2>(acc[p]);
    if constexpr (last % 64 != 60) simd::fetch_line_to_write<I, last / 8 * 8>(to);
    [&]<int... V>(std::integer_sequence<int, V...>) AGO_INLINE_LAMBDA {
      (begin.template operator()<V + 3>(acc[p]), ...);
    }(std::make_integer_sequence<int, VECTORS>{});
    pin(to);
    pin(next);
  }
}

/// Starts every pixel's accumulators from the partial sums that finish() has stored without an epilogue. `count`: valid
/// lanes of the last vector. Loops that are scheduled by hand also prefetch the partial sums of the next tile, and the
/// first line of every pixel of it, which begins at `next`.
template <bool PARTIAL, isa I, int PIXELS, int VECTORS>
AGO_INLINE void resume(tile_target const& t, float const* next, long next_stride, int count,
                       vec<I> (&acc)[PIXELS][VECTORS]) {
  constexpr int last = int(sizeof(float)) * (VECTORS * lanes(I) - 1);
  float const* from = t.to;
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p, from += t.step, next += next_stride) {
    AGO_UNROLL(32)
    for (int v = 0; v < VECTORS; ++v) {
      float const* const x = from + v * lanes(I);
      acc[p][v] = PARTIAL && v == VECTORS - 1 && count < lanes(I) ? vec<I>::load(x, count) : vec<I>::load(x);
    }
    if constexpr (is_scheduled_by_hand(I)) {
      float const* const later = from + PIXELS * t.step;
      simd::fetch_line_to_write<I>(later);
      if constexpr (last % 64 != 60) simd::fetch_line_to_write<I, last / 8 * 8>(later);
      simd::fetch_line<I>(next);
      pin(from);
      pin(next);
    }
  }
}

/// Finishes one register of results: vector v of the tile's pixel p.
template <isa I>
AGO_INLINE void finish_one(auto const& after, vec<I> x, tile_target const& t, int p, int v, int count) {
  x = after(x, t.index + p * t.index_step, t.channel + v * lanes(I), count);
  float* const to = t.to + p * t.step + v * lanes(I);
  count == lanes(I) ? x.store(to) : x.store(to, count);
}

/// start() and accumulate() as a separate function, for results that are passed in memory anyway. If inlined, values
/// that are needed after the loop over K occupy registers during it. (Measured with GELU on Zen 5, where g++ kept
/// weights on the stack.)
template <loop_form FORM, isa I, int PIXELS, int VECTORS>
[[gnu::noinline]] void accumulate_apart(float const* shift, float const* a, long a_stride, int depth, float const* w,
                                        vec<I> (&results)[PIXELS][VECTORS], float const* next = nullptr) {
  vec<I> acc[PIXELS][VECTORS];
  start(shift, acc);
  accumulate<FORM>(a, a_stride, depth, w, acc, next, PIXELS);
  if constexpr (is_scheduled_by_hand(I)) {
    finish_bounded<0>(acc, reinterpret_cast<float*>(results), VECTORS * lanes(I));
  } else {
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) results[p][v] = acc[p][v];
    }
  }
}

/// A separate function, because its constants would take registers from the accumulators (measured: silu halves the
/// speed of the whole kernel). Operations on one register wait for each other: four are computed before the first is
/// stored, because compilers move no load across a store. The last register is computed again where four do not divide
/// their number.
template <int VECTORS, epilogue E, isa I>
[[gnu::noinline]] void finish_apart(finisher<E, I> const& after, vec<I> const (*results)[VECTORS], int pixels,
                                    tile_target const& t) {
  if (t.count < lanes(I)) {
    AGO_UNROLL(1)
    for (int p = 0; p < pixels; ++p) {
      AGO_UNROLL(1)
      for (int v = 0; v < VECTORS; ++v)
        finish_one(after, results[p][v], t, p, v, v == VECTORS - 1 ? t.count : lanes(I));
    }
    return;
  }
  constexpr int together = 4;
  int const last = pixels * VECTORS - 1;
  AGO_UNROLL(1)
  for (int first = 0; first <= last; first += together) {
    vec<I> x[together];
    float* to[together];
    AGO_UNROLL(4)
    for (int i = 0; i < together; ++i) {
      int const n = first + i < last ? first + i : last, p = n / VECTORS, v = n % VECTORS;
      x[i] = after(results[p][v], t.index + p * t.index_step, t.channel + v * lanes(I));
      to[i] = t.to + p * t.step + v * lanes(I);
    }
    AGO_UNROLL(4)
    for (int i = 0; i < together; ++i) store_and_advance<4L * lanes(I)>(x[i], to[i]);
  }
}

/// Applies the epilogue to the accumulators and stores them. `PARTIAL`: the last vector holds only `count` channels.
template <bool PARTIAL, epilogue E, isa I, int PIXELS, int VECTORS>
AGO_INLINE void finish(finisher<E, I> const& after, vec<I> (&acc)[PIXELS][VECTORS], tile_target t) {
  if (!PARTIAL) t.count = lanes(I);
  if constexpr (is_scheduled_by_hand(I) && bounds_of(E) >= 0 && !PARTIAL) {
    finish_bounded<bounds_of(E)>(acc, t.to, t.step);
  } else if constexpr (is_lengthy(E)) {
    vec<I> results[PIXELS][VECTORS];  // a copy: accumulators that are indexed would not stay in registers
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) results[p][v] = acc[p][v];
    }
    finish_apart(after, results, PIXELS, t);
  } else {
    auto const now = after.here();
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v)
        kernel::finish_one(now, acc[p][v], t, p, v, PARTIAL && v == VECTORS - 1 ? t.count : lanes(I));
    }
  }
}

/// Computes a whole tile: start(), accumulate() and finish(). Expects t.count to be correct even if not PARTIAL.
/// `next`: prefetched, if the form says so, as many floats as the tile reads.
template <loop_form FORM, bool PARTIAL, int PIXELS, int VECTORS, epilogue E, isa I>
AGO_INLINE void compute_tile(finisher<E, I> const& after, float const* shift, float const* a, long a_stride, int depth,
                             float const* w, tile_target const& t, float const* next = nullptr) {
  vec<I> acc[PIXELS][VECTORS];
  if constexpr (is_lengthy(E)) {
    accumulate_apart<FORM>(shift, a, a_stride, depth, w, acc, next);
    finish_apart(after, acc, PIXELS, t);
  } else {
    start<FORM>(shift, t, a + PIXELS * a_stride, a_stride, acc);
    accumulate<FORM>(a, a_stride, depth, w, acc, next, PIXELS);
    finish<PARTIAL>(after, acc, t);
  }
}

}  // namespace ago::kernel
