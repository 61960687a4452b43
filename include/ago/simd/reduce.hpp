// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums and maxima across the lanes of a register.
#pragma once

#include <ago/simd/simd.hpp>

namespace ago::simd {

/// Reduces all lanes of x by f, as a tree; f must accept registers of any width.
template <isa I, class F>
AGO_INLINE float reduce(vec<I> x, F f) {
  if constexpr (instructions<I>::has_registers && lanes(I) > 4) {
    using own = instructions<I>;
    using half = vec<own::half>;
    auto const low = own::low(x.v), high = own::high(x.v);
    return reduce(f(half(typename half::batch(low)), half(typename half::batch(high))), f);
  }
  if constexpr (lanes(I) == 4) {
    x = f(zip_lo(x, x), zip_hi(x, x));
    x = f(zip_lo(x, x), zip_hi(x, x));
    float lane;
    x.store(&lane, 1);
    return lane;
  }
  float lane[lanes(I)];
  x.store(lane);
  for (int i = 1; i < lanes(I); ++i) f(vec<isa::scalar>(lane[0]), vec<isa::scalar>(lane[i])).store(lane);
  return lane[0];
}

/// The sum of all lanes.
template <isa I>
AGO_INLINE float sum_of_lanes(vec<I> x) {
  return reduce(x, [](auto a, auto b) AGO_INLINE_LAMBDA { return a + b; });
}

/// The largest lane; if one is NaN, any of them.
template <isa I>
AGO_INLINE float max_of_lanes(vec<I> x) {
  return reduce(x, [](auto a, auto b) AGO_INLINE_LAMBDA { return max(a, b); });
}

}  // namespace ago::simd
