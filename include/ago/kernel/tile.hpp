// The register tile of all matrix products: pixels x vectors of accumulators, and the inner loop over the depth.
#pragma once

#include <ago/kernel/epilogue.hpp>

namespace ago {

namespace detail {
/// Loads one row of weights for PIXELS uses of each vector.
template <int PIXELS, isa I, int VECTORS>
AGO_INLINE void load_row(float const* w, vec<I> (&row)[VECTORS]) {
  _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) {
    row[v] = vec<I>::load(w + v * lanes(I));
    if constexpr (PIXELS > 1) keep(row[v]);
  }
}
/// One step of the depth, taken from lane L of each pixel's register.
template <int L, isa I, int PIXELS, int VECTORS>
AGO_INLINE void multiply_lane(vec<I> const (&x)[PIXELS], float const* w, vec<I> (&acc)[PIXELS][VECTORS]) {
  vec<I> row[VECTORS];
  load_row<PIXELS>(w, row);
  _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p)
    _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma_lane<L>(row[v], x[p], acc[p][v]);
}
}  // namespace detail

/// Adds to `acc` the products of `depth` consecutive floats of each pixel (pixel p starts at a + p * a_stride) with the
/// packed weights w[depth][VECTORS * lanes].
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate(float const* a, long a_stride, int depth, float const* w, vec<I> (&acc)[PIXELS][VECTORS]) {
  constexpr int row_floats = VECTORS * lanes(I);
  int k = 0;
  if constexpr (has_lane_fma(I)) {  // one load takes four steps of a pixel
    _Pragma("GCC unroll 1") for (; k + 4 <= depth; k += 4, w += 4 * row_floats) {
      vec<I> x[PIXELS];
      _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) x[p] = vec<I>::load(a + p * a_stride + k);
      detail::multiply_lane<0>(x, w, acc);
      detail::multiply_lane<1>(x, w + row_floats, acc);
      detail::multiply_lane<2>(x, w + 2 * row_floats, acc);
      detail::multiply_lane<3>(x, w + 3 * row_floats, acc);
    }
  }
  // Rolled: unrolling gains nothing on an out-of-order core, and costs g++ its register allocation.
  _Pragma("GCC unroll 1") for (; k < depth; ++k, w += row_floats) {
    vec<I> row[VECTORS];
    detail::load_row<PIXELS>(w, row);
    _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) {
      vec<I> const x(a[p * a_stride + k]);
      _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(x, row[v], acc[p][v]);
    }
  }
}

/// Starts every pixel's accumulators from the packed shift.
template <isa I, int PIXELS, int VECTORS>
AGO_INLINE void start(float const* shift, vec<I> (&acc)[PIXELS][VECTORS]) {
  _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) {
    vec<I> const x = vec<I>::load(shift + v * lanes(I));
    _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p) acc[p][v] = x;
  }
}

/// Where the results of a tile go: pixel p of the tile is written at to + p * step, and is pixel number
/// index + p * index_step of the whole value.
struct tile_target {
  float* to;
  long step;
  long index, index_step;
  int channel;  ///< first channel of the tile, within the whole value
  int count;    ///< valid lanes of the last vector
};

/// Stages whose code is long: unrolled over a tile they would only fill the instruction cache.
constexpr bool is_lengthy(epilogue const& after) {
  for (stage const& s : after.stages)
    if (s.kind >= op::sigmoid && s.kind <= op::map) return true;
  return false;
}

/// Applies the epilogue to the accumulators and stores them. `PARTIAL`: the last vector holds only `count` channels.
template <bool PARTIAL, epilogue E, isa I, int PIXELS, int VECTORS>
AGO_INLINE void finish(finisher<E, I> const& after, vec<I> (&acc)[PIXELS][VECTORS], tile_target const& t) {
  auto const one = [&](vec<I> x, int p, int v) __attribute__((always_inline)) {
    int const count = PARTIAL && v == VECTORS - 1 ? t.count : lanes(I);
    x = after(x, t.index + p * t.index_step, t.channel + v * lanes(I), count);
    float* const to = t.to + p * t.step + v * lanes(I);
    count == lanes(I) ? x.store(to) : x.store(to, count);
  };
  if constexpr (is_lengthy(E)) {
    vec<I> results[PIXELS][VECTORS];  // a copy: indexing the accumulators themselves would keep them out of registers
    _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p)
      _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) results[p][v] = acc[p][v];
    _Pragma("GCC unroll 1") for (int p = 0; p < PIXELS; ++p)
      _Pragma("GCC unroll 1") for (int v = 0; v < VECTORS; ++v) one(results[p][v], p, v);
  } else {
    _Pragma("GCC unroll 32") for (int p = 0; p < PIXELS; ++p)
      _Pragma("GCC unroll 32") for (int v = 0; v < VECTORS; ++v) one(acc[p][v], p, v);
  }
}

}  // namespace ago
