// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loops over K of products whose rows, or columns, are read where they are.
#pragma once

#include <ago/kernel/tile.hpp>

namespace ago::kernel {

/// Adds to `acc` the products of a[rows[p] + steps[k]], for k < depth, and the packed columns. `next`: as of
/// accumulate().
template <loop_form FORM, isa I, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_at(float const* a, int const* rows, int const* steps, int depth, float const* w,
                              vec<I> (&acc)[PIXELS][VECTORS], [[maybe_unused]] float const* next = nullptr,
                              [[maybe_unused]] long next_step = 0) {
  float const* row[PIXELS];
  AGO_UNROLL(32)
  for (int p = 0; p < PIXELS; ++p) {
    row[p] = a + rows[p];
    pin(row[p]);
  }
  AGO_UNROLL(1)
  for (int k = 0; k < depth; ++k, w += VECTORS * lanes(I)) {
    vec<I> column[VECTORS];
    load_row<PIXELS>(w, column);
    fetch_row<I, PIXELS, VECTORS>(w);
    if constexpr (FORM.fetches) FORM.fetch(next + k * next_step);
    long const step = steps[k];
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      vec<I> const x(row[p][step]);
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(x, column[v], acc[p][v]);
    }
  }
}

/// Adds to `acc` the products of a[p * a_stride + k * a_step], for k < depth, and VECTORS registers of columns at
/// b + k * b_step, the last of which has VALID lanes. `meanwhile`: called with k and these registers.
template <isa I, int VALID, int PIXELS, int VECTORS>
AGO_INLINE void accumulate_in_place(float const* a, long a_stride, long a_step, int depth, float const* b, long b_step,
                                    vec<I> (&acc)[PIXELS][VECTORS], auto const& meanwhile) {
  constexpr int V = lanes(I);
  AGO_UNROLL(1)
  for (int k = 0; k < depth; ++k, a += a_step, b += b_step) {
    vec<I> column[VECTORS];
    AGO_UNROLL(32)
    for (int v = 0; v < VECTORS; ++v)
      column[v] = VALID == V || v + 1 < VECTORS ? vec<I>::load(b + v * V) : vec<I>::load(b + v * V, VALID);
    meanwhile(k, column);
    AGO_UNROLL(32)
    for (int p = 0; p < PIXELS; ++p) {
      vec<I> const x(a[p * a_stride]);
      AGO_UNROLL(32)
      for (int v = 0; v < VECTORS; ++v) acc[p][v] = fma(x, column[v], acc[p][v]);
    }
  }
}

}  // namespace ago::kernel
