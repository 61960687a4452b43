// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AVX2 with FMA: eight floats.
#pragma once

#include <ago/simd/instructions.hpp>

#if XSIMD_WITH_AVX2

namespace ago::simd {

#if XSIMD_WITH_FMA3_AVX2
using avx2_architecture = xsimd::fma3<xsimd::avx2>;
#else
using avx2_architecture = xsimd::avx2;
#endif

template <>
struct instructions<isa::avx2> : common_instructions<avx2_architecture> {
  AGO_INLINE static batch load(float const* p, int n) { return batch(_mm256_maskload_ps(p, mask(n))); }
  AGO_INLINE static void store(float* p, int n, batch x) { return _mm256_maskstore_ps(p, mask(n), x); }
  AGO_INLINE static void stream(float* p, batch x) { _mm256_stream_ps(p, x); }
  AGO_INLINE static __m256 two_fours(float const* p, long stride) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride), 1);
  }
  AGO_INLINE static batch load_fours(float const* p, long stride) { return batch(two_fours(p, stride)); }
  AGO_INLINE static batch zip_lo(batch a, batch b) { return batch(_mm256_unpacklo_ps(a, b)); }
  AGO_INLINE static batch zip_hi(batch a, batch b) { return batch(_mm256_unpackhi_ps(a, b)); }
  AGO_INLINE static batch shifted(batch t) {
    return batch(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(t), 23)));
  }
  AGO_INLINE static batch sum(batch y, batch t) {
    return batch(
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(y), _mm256_slli_epi32(_mm256_castps_si256(t), 23))));
  }
  template <int COUNT, int STEP>
  AGO_INLINE static batch load_spaced(float const* p) {
    if constexpr (COUNT == size) {
      __m256i const places = _mm256_setr_epi32(0, STEP, 2 * STEP, 3 * STEP, 4 * STEP, 5 * STEP, 6 * STEP, 7 * STEP);
      return batch(_mm256_i32gather_ps(p, places, 4));
    } else {
      return common_instructions<avx2_architecture>::load_spaced<COUNT, STEP>(p);
    }
  }

  /// The set of half a register, and both halves.
  static constexpr isa half = isa::sse2;
  AGO_INLINE static __m128 low(batch x) { return _mm256_castps256_ps128(x); }
  AGO_INLINE static __m128 high(batch x) { return _mm256_extractf128_ps(x, 1); }

  AGO_INLINE static batch spread_pair(double a_b) { return batch(_mm256_castpd_ps(_mm256_set1_pd(a_b))); }
  AGO_INLINE static batch add_pairs(batch a, batch b) {
    __m256d const sums = _mm256_castps_pd(_mm256_hadd_ps(a, b));  // a01 a23 b01 b23 a45 a67 b45 b67
    return batch(_mm256_castpd_ps(_mm256_permute4x64_pd(sums, 0b11'01'10'00)));
  }
#if defined(__GNUC__) && !defined(__clang__)
  AGO_INLINE static void keep(batch& x) { asm("" : "+v"(x.data)); }
#endif

 private:
  AGO_INLINE static __m256i mask(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

}  // namespace ago::simd

#endif
