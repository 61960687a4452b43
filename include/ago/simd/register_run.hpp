// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterates over consecutive floats in registers, the last of which may be partly filled.
#pragma once

#include <ago/simd/simd.hpp>

#include <limits>

namespace ago::simd {

/// `count` consecutive floats: those in whole registers, and the rest.
template <isa I>
struct register_run {
  int whole, left;
  AGO_INLINE explicit register_run(int count) : whole(count / lanes(I) * lanes(I)), left(count % lanes(I)) {}
  /// f(first float, valid lanes) for each register.
  template <class F>
  AGO_INLINE void each(F f) const {
    AGO_UNROLL(1)
    for (int i = 0; i < whole; i += lanes(I)) f(i, lanes(I));
    if (left > 0) f(whole, left);
  }
};

template <isa I>
AGO_INLINE vec<I> load_lanes(float const* p, int count) {
  return count == lanes(I) ? vec<I>::load(p) : vec<I>::load(p, count);
}
template <isa I>
AGO_INLINE void store_lanes(vec<I> x, float* p, int count) {
  count == lanes(I) ? x.store(p) : x.store(p, count);
}

/// Two registers of constants, one after the other: a load that straddles their boundary has `before` in its first
/// lanes and `behind` in the others.
template <isa I>
struct lane_edge {
  float lane[2 * lanes(I)];
  constexpr lane_edge(float before, float behind) : lane{} {
    for (int i = 0; i < 2 * lanes(I); ++i) lane[i] = i < lanes(I) ? before : behind;
  }
  /// `before` in `count` lanes, `behind` in the others.
  AGO_INLINE vec<I> at(int count) const { return vec<I>::load(lane + lanes(I) - count); }
};

/// 1 in the first `count` lanes, 0 in the others.
template <isa I>
AGO_INLINE vec<I> ones_before(int count) {
  static constexpr lane_edge<I> edge(1.f, 0.f);
  return edge.at(count);
}

/// 0 in the first `count` lanes, minus infinity in the others. Adding it to a register excludes those lanes from a
/// maximum and from a sum of exponentials.
template <isa I>
AGO_INLINE vec<I> minus_infinity_behind(int count) {
  static constexpr lane_edge<I> edge(0.f, -std::numeric_limits<float>::infinity());
  return edge.at(count);
}

}  // namespace ago::simd
