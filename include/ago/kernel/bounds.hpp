// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Epilogues that only bound results, whose instructions are ordered by hand.
#pragma once

#include <ago/plan/step.hpp>
#include <ago/simd/in_order.hpp>

#include <utility>

namespace ago::kernel {

/// The number of bounds of an epilogue that consists of them: none, 0 or more (relu), also 6 or less (relu6); -1 for
/// any other.
constexpr int bounds_of(epilogue const& after) {
  if (after.count() == 0) return 0;
  if (after.count() > 1) return -1;
  return after.stages[0].kind == op::relu ? 1 : after.stages[0].kind == op::relu6 ? 2 : -1;
}

/// Bounds and stores a tile, pixel p at to + p * step: each result four actions after what it waits for, so that stores
/// are not neighbours.
template <int BOUNDS, isa I, int PIXELS, int VECTORS>
AGO_INLINE void finish_bounded(vec<I> (&acc)[PIXELS][VECTORS], float* to, long step) {
  constexpr int results = PIXELS * VECTORS, apart = 4;
  [[maybe_unused]] vec<I> least, most;
  if constexpr (BOUNDS > 0) set_constant<0>(least);
  if constexpr (BOUNDS > 1) set_constant<6>(most);
  constexpr long vector = lanes(I) * long(sizeof(float));
  long const next_pixel = step * long(sizeof(float)) - (VECTORS - 1) * vector;
  auto const one = [&]<int N>() AGO_INLINE_LAMBDA {
    constexpr int raised = N, lowered = raised - (BOUNDS > 0 ? apart : 0), stored = lowered - (BOUNDS > 1 ? apart : 0);
    if constexpr (BOUNDS > 0 && raised < results) raise(acc[raised / VECTORS][raised % VECTORS], least);
    if constexpr (BOUNDS > 1 && lowered >= 0 && lowered < results)
      lower(acc[lowered / VECTORS][lowered % VECTORS], most);
    if constexpr (stored >= 0 && stored < results) {
      vec<I> const& x = acc[stored / VECTORS][stored % VECTORS];
      if constexpr (stored % VECTORS < VECTORS - 1) store_and_advance<vector>(x, to);
      else store_and_advance(x, to, next_pixel);
    }
  };
  [&]<int... N>(std::integer_sequence<int, N...>) AGO_INLINE_LAMBDA {
    (one.template operator()<N>(), ...);
  }(std::make_integer_sequence<int, results + apart * BOUNDS>{});
}

}  // namespace ago::kernel
