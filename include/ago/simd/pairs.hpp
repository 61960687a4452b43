// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers that hold two steps of K side by side, for channel counts that leave half a register empty.
#pragma once

#include <ago/simd/simd.hpp>

#include <cstring>

namespace ago::simd {

/// a b a b ..., where `a_b` contains the two floats a and b; requires has_pairs.
template <isa I>
AGO_INLINE vec<I> spread_pair(double a_b) {
  if constexpr (instructions<I>::has_registers && has_pairs(I)) return instructions<I>::spread_pair(a_b);
  float all[lanes(I)];
  for (int i = 0; i < lanes(I); i += 2) std::memcpy(all + i, &a_b, sizeof a_b);
  return vec<I>::load(all);
}

/// p[0] p[1] p[0] p[1] ...
template <isa I>
AGO_INLINE vec<I> load_pair(float const* p) {
  double a_b;
  std::memcpy(&a_b, p, sizeof a_b);
  return spread_pair<I>(a_b);
}

/// p[0] 0 p[0] 0 ...; does not read p[1].
template <isa I>
AGO_INLINE vec<I> load_half_pair(float const* p) {
  float const pair[2] = {*p, 0.f};
  return load_pair<I>(pair);
}

/// a0+a1 a2+a3 ... b0+b1 b2+b3 ...
template <isa I>
AGO_INLINE vec<I> add_pairs(vec<I> a, vec<I> b) {
  if constexpr (instructions<I>::has_registers && has_pairs(I)) return instructions<I>::add_pairs(a.v, b.v);
  float all[2 * lanes(I)], even[lanes(I)], odd[lanes(I)];
  a.store(all);
  b.store(all + lanes(I));
  for (int i = 0; i < lanes(I); ++i) even[i] = all[2 * i], odd[i] = all[2 * i + 1];
  return vec<I>::load(even) + vec<I>::load(odd);
}

}  // namespace ago::simd
