// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AVX-512: sixteen floats.
#pragma once

#include <ago/simd/avx2.hpp>

#if XSIMD_WITH_AVX512F

// See instructions.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace ago::simd {

template <>
struct instructions<isa::avx512> : common_instructions<xsimd::avx512f> {
  AGO_INLINE static batch load(float const* p, int n) { return batch(_mm512_maskz_loadu_ps(first(n), p)); }
  AGO_INLINE static void store(float* p, int n, batch x) { return _mm512_mask_storeu_ps(p, first(n), x); }
  AGO_INLINE static void stream(float* p, batch x) { _mm512_stream_ps(p, x); }
  AGO_INLINE static batch load_fours(float const* p, long stride) {
    __m256 const low = instructions<isa::avx2>::two_fours(p, stride);
    return batch(_mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps256_ps512(low), _mm_loadu_ps(p + 2 * stride), 2),
                                    _mm_loadu_ps(p + 3 * stride), 3));
  }
  AGO_INLINE static batch negative(batch a) { return batch(-__m512(a)); }  // xsimd 8.1: 0 - a, which is not -0 for 0
  AGO_INLINE static batch fma(batch x, batch y, batch z) {                 // xsimd 8.1: multiplies, then adds
    return batch(_mm512_fmadd_ps(x, y, z));
  }
  AGO_INLINE static batch zip_lo(batch a, batch b) { return batch(_mm512_unpacklo_ps(a, b)); }
  AGO_INLINE static batch zip_hi(batch a, batch b) { return batch(_mm512_unpackhi_ps(a, b)); }
  AGO_INLINE static batch shifted(batch t) {
    return batch(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(t), 23)));
  }
  AGO_INLINE static batch sum(batch y, batch t) {
    return batch(
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(y), _mm512_slli_epi32(_mm512_castps_si512(t), 23))));
  }
  template <int COUNT, int STEP>
  AGO_INLINE static batch load_spaced(float const* p) {
    __m512i const numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i const places = _mm512_mullo_epi32(numbers, _mm512_set1_epi32(STEP));
    return batch(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), first(COUNT), places, p, 4));
  }

  static constexpr isa half = isa::avx2;
  AGO_INLINE static __m256 low(batch x) { return _mm512_castps512_ps256(x); }
  AGO_INLINE static __m256 high(batch x) { return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1)); }

  AGO_INLINE static batch spread_pair(double a_b) { return batch(_mm512_castpd_ps(_mm512_set1_pd(a_b))); }
  AGO_INLINE static batch add_pairs(batch a, batch b) {
    __m512i const even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i const odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return batch(_mm512_add_ps(_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)));
  }
  /// The nearest integer; and y * 2^n, 0 in other lanes than `counts`. They do not occupy the pipes that multiply.
  static constexpr bool has_scalef = true;
  AGO_INLINE static batch rounded(batch x) { return batch(_mm512_roundscale_ps(x, 0)); }
  AGO_INLINE static __mmask16 not_less(batch x, float than) {
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(than), _CMP_NLT_UQ);
  }
  AGO_INLINE static batch scaled(__mmask16 counts, batch y, batch n) {
    return batch(_mm512_maskz_scalef_ps(counts, y, n));
  }
  /// An estimate and one Newton step take a third of the time of a division on Intel. On AMD, the only processors with
  /// SSE4a, silu takes three quarters of the time with a division.
#if !defined(__SSE4A__)
  static constexpr bool has_reciprocal_estimate = true;
#endif
  AGO_INLINE static batch reciprocal_estimate(batch x) { return batch(_mm512_rcp14_ps(x)); }
#if defined(__GNUC__) && !defined(__clang__)
  AGO_INLINE static void keep(batch& x) { asm("" : "+v"(x.data)); }
#endif

 private:
  AGO_INLINE static __mmask16 first(int n) { return __mmask16((1u << n) - 1); }
};

}  // namespace ago::simd

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
