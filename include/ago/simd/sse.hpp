// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SSE2 and SSE4.2: four floats.
#pragma once

#include <ago/simd/instructions.hpp>

#if defined(__x86_64__) || defined(__i386__)

namespace ago::simd {

template <class Architecture>
struct sse_instructions : common_instructions<Architecture> {
  using batch = typename common_instructions<Architecture>::batch;

  AGO_INLINE static batch load(float const* p, int n) {
    if (n == 1) return batch(_mm_load_ss(p));
    __m128 const low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<__m64 const*>(p));
    return batch(n == 2 ? low : _mm_movelh_ps(low, _mm_load_ss(p + 2)));
  }
  AGO_INLINE static void store(float* p, int n, __m128 x) {
    if (n == 1) return _mm_store_ss(p, x);
    _mm_storel_pi(reinterpret_cast<__m64*>(p), x);
    if (n == 3) _mm_store_ss(p + 2, _mm_movehl_ps(x, x));
  }
  AGO_INLINE static void stream(float* p, __m128 x) { _mm_stream_ps(p, x); }
  AGO_INLINE static batch shifted(batch t) { return batch(_mm_castsi128_ps(_mm_slli_epi32(_mm_castps_si128(t), 23))); }
  AGO_INLINE static batch sum(batch y, batch t) {
    return batch(_mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(y), _mm_slli_epi32(_mm_castps_si128(t), 23))));
  }
  template <int COUNT, int STEP>
  AGO_INLINE static batch load_spaced(float const* p) {
    return batch(
        _mm_setr_ps(p[0], COUNT > 1 ? p[STEP] : 0.f, COUNT > 2 ? p[2L * STEP] : 0.f, COUNT > 3 ? p[3L * STEP] : 0.f));
  }
};

template <>
struct instructions<isa::sse2> : sse_instructions<xsimd::sse2> {
  // xsimd 8.1: 0 for -0.
  AGO_INLINE static batch floor(batch a) { return xsimd::copysign(xsimd::floor(a), a); }
  AGO_INLINE static batch ceil(batch a) { return xsimd::copysign(xsimd::ceil(a), a); }
};

#if XSIMD_WITH_SSE4_2
template <>
struct instructions<isa::sse42> : sse_instructions<xsimd::sse4_2> {};
#endif

}  // namespace ago::simd

#endif
