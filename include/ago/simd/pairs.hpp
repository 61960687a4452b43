// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers that hold two steps of K side by side, for channel counts that leave half a register empty.
#pragma once

#include <ago/simd/simd.hpp>

#include <cstring>

namespace ago::simd {

/// a b a b ..., where `a_b` contains the two floats a and b; requires has_pairs.
template <isa I>
AGO_INLINE vec<I> spread_pair(double a_b) {
#if XSIMD_WITH_AVX512F
  if constexpr (I == isa::avx512) return typename vec<I>::batch(_mm512_castpd_ps(_mm512_set1_pd(a_b)));
#endif
#if XSIMD_WITH_AVX2
  if constexpr (I == isa::avx2) return typename vec<I>::batch(_mm256_castpd_ps(_mm256_set1_pd(a_b)));
#endif
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
#if XSIMD_WITH_AVX512F
  if constexpr (I == isa::avx512) {
    __m512i const even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i const odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return typename vec<I>::batch(
        _mm512_add_ps(_mm512_permutex2var_ps(a.v, even, b.v), _mm512_permutex2var_ps(a.v, odd, b.v)));
  }
#endif
#if XSIMD_WITH_AVX2
  if constexpr (I == isa::avx2) {
    __m256d const sums = _mm256_castps_pd(_mm256_hadd_ps(a.v, b.v));  // a01 a23 b01 b23 a45 a67 b45 b67
    return typename vec<I>::batch(_mm256_castpd_ps(_mm256_permute4x64_pd(sums, 0b11'01'10'00)));
  }
#endif
  float all[2 * lanes(I)], even[lanes(I)], odd[lanes(I)];
  a.store(all);
  b.store(all + lanes(I));
  for (int i = 0; i < lanes(I); ++i) even[i] = all[2 * i], odd[i] = all[2 * i + 1];
  return vec<I>::load(even) + vec<I>::load(odd);
}

}  // namespace ago::simd
