// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One SIMD register of floats, ago::simd::vec<isa>. The only file that includes xsimd.
// Adds what xsimd 8.1 lacks: fused multiply-add on AVX-512, partial loads and stores, and a scalar register.
#pragma once

#include <ago/ir/isa.hpp>
#include <ago/simd/emulated.hpp>

// g++ 12 warns of the deliberately undefined operand of some AVX-512 intrinsics (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <cmath>
#include <xsimd/xsimd.hpp>

namespace ago::simd {

/// Kernels consist of small functions that must be inlined: only then does a register tile stay in registers.
#define AGO_INLINE __attribute__((always_inline)) inline
#define AGO_INLINE_LAMBDA __attribute__((always_inline))
/// Before a loop: copies its body up to n times, as often as it turns where that is a constant, which keeps a tile's
/// registers apart.
#define AGO_UNROLL(n) AGO_PRAGMA(GCC unroll n)
#define AGO_PRAGMA(text) _Pragma(#text)

// clang-format off
template <isa I> struct architecture;
#if defined(__x86_64__) || defined(__i386__)
template <> struct architecture<isa::sse2> { using type = xsimd::sse2; };
#if XSIMD_WITH_SSE4_2
template <> struct architecture<isa::sse42> { using type = xsimd::sse4_2; };
#endif
#if XSIMD_WITH_FMA3_AVX2
template <> struct architecture<isa::avx2> { using type = xsimd::fma3<xsimd::avx2>; };
#elif XSIMD_WITH_AVX2
template <> struct architecture<isa::avx2> { using type = xsimd::avx2; };
#endif
#if XSIMD_WITH_AVX512F
template <> struct architecture<isa::avx512> { using type = xsimd::avx512f; };
#endif
#elif defined(__aarch64__)
template <> struct architecture<isa::neon> { using type = xsimd::neon64; };
#endif
// clang-format on

/// One register of `size` floats.
template <isa I>
struct vec {
  using batch = xsimd::batch<float, typename architecture<I>::type>;
  static constexpr int size = lanes(I);
  batch v;

  vec() = default;
  AGO_INLINE vec(batch x) : v(x) {}
  AGO_INLINE vec(float x) : v(x) {}

  /// Any alignment.
  AGO_INLINE static vec load(float const* p) { return batch::load_unaligned(p); }
  AGO_INLINE void store(float* p) const { v.store_unaligned(p); }
  /// The first n lanes, 0 < n < size; the others are zero. Reads nothing beyond p + n.
  AGO_INLINE static vec load(float const* p, int n) {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return batch(_mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p));
#endif
#if XSIMD_WITH_AVX2
    if constexpr (I == isa::avx2) return batch(_mm256_maskload_ps(p, mask(n)));
#endif
    if constexpr (size == 4) return batch(load_of_four(p, n));
    else return vec(0.f);
  }
  /// Four floats from each of p, p + stride, p + 2 * stride ...
  AGO_INLINE static vec load_fours(float const* p, [[maybe_unused]] long stride) {
#if XSIMD_WITH_AVX2
    if constexpr (size > 4) {
      __m256 const low = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + stride), 1);
      if constexpr (I == isa::avx2) return batch(low);
#if XSIMD_WITH_AVX512F
      else
        return batch(
            _mm512_insertf32x4(_mm512_insertf32x4(_mm512_castps256_ps512(low), _mm_loadu_ps(p + 2 * stride), 2),
                               _mm_loadu_ps(p + 3 * stride), 3));
#endif
    }
#endif
    if constexpr (size == 4) return load(p);
  }
  /// Writes the first n lanes, 0 < n < size, and nothing beyond p + n.
  AGO_INLINE void store(float* p, int n) const {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), v);
#endif
#if XSIMD_WITH_AVX2
    if constexpr (I == isa::avx2) return _mm256_maskstore_ps(p, mask(n), v);
#endif
    if constexpr (size == 4) store_of_four(p, n, v);
  }

  friend AGO_INLINE vec operator+(vec a, vec b) { return a.v + b.v; }
  friend AGO_INLINE vec operator-(vec a, vec b) { return a.v - b.v; }
  friend AGO_INLINE vec operator-(vec a) {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return batch(-__m512(a.v));  // xsimd 8.1: 0 - a, which is not -0 for 0
#endif
    return -a.v;
  }
  friend AGO_INLINE vec operator*(vec a, vec b) { return a.v * b.v; }
  friend AGO_INLINE vec operator/(vec a, vec b) {
#if defined(__aarch64__)
    if constexpr (I == isa::neon) return batch(vdivq_f32(a.v, b.v));  // xsimd 8.1: an estimate with Newton steps
#endif
    return a.v / b.v;
  }
  /// If one of the operands is NaN: b (on neon: NaN).
  friend AGO_INLINE vec min(vec a, vec b) { return xsimd::min(a.v, b.v); }
  friend AGO_INLINE vec max(vec a, vec b) { return xsimd::max(a.v, b.v); }
  friend AGO_INLINE vec abs(vec a) { return xsimd::abs(a.v); }
  friend AGO_INLINE vec sqrt(vec a) {
#if defined(__aarch64__)
    if constexpr (I == isa::neon) return batch(vsqrtq_f32(a.v));
#endif
    return xsimd::sqrt(a.v);
  }
  friend AGO_INLINE vec exp(vec a) { return xsimd::exp(a.v); }
  friend AGO_INLINE vec log(vec a) { return xsimd::log(a.v); }
  friend AGO_INLINE vec tanh(vec a) { return xsimd::tanh(a.v); }
  friend AGO_INLINE vec erf(vec a) { return xsimd::erf(a.v); }
  friend AGO_INLINE vec expm1(vec a) { return xsimd::expm1(a.v); }
  friend AGO_INLINE vec log1p(vec a) { return xsimd::log1p(a.v); }
  friend AGO_INLINE vec sin(vec a) { return xsimd::sin(a.v); }
  friend AGO_INLINE vec cos(vec a) { return xsimd::cos(a.v); }
  friend AGO_INLINE vec floor(vec a) {
#if defined(__aarch64__)
    if constexpr (I == isa::neon) return batch(vrndmq_f32(a.v));
#endif
    if constexpr (I == isa::sse2) return copysign(xsimd::floor(a.v), a);  // xsimd 8.1: 0 for -0, also in ceil
    return xsimd::floor(a.v);
  }
  friend AGO_INLINE vec ceil(vec a) {
#if defined(__aarch64__)
    if constexpr (I == isa::neon) return batch(vrndpq_f32(a.v));
#endif
    if constexpr (I == isa::sse2) return copysign(xsimd::ceil(a.v), a);
    return xsimd::ceil(a.v);
  }
  /// The nearest integer; ties go to the even one.
  friend AGO_INLINE vec round_to_even(vec a) { return xsimd::nearbyint(a.v); }
  /// x * y + z, rounded once if the hardware can.
  friend AGO_INLINE vec fma(vec x, vec y, vec z) {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return batch(_mm512_fmadd_ps(x.v, y.v, z.v));  // xsimd 8.1: multiply, then add
#endif
    return xsimd::fma(x.v, y.v, z.v);
  }
  /// x where a < b, elsewhere y.
  friend AGO_INLINE vec where_less(vec a, vec b, vec x, vec y) { return xsimd::select(a.v < b.v, x.v, y.v); }
  /// x where a is NaN, elsewhere y.
  friend AGO_INLINE vec where_nan(vec a, vec x, vec y) { return xsimd::select(xsimd::isnan(a.v), x.v, y.v); }
  /// |a| with the sign of b.
  friend AGO_INLINE vec copysign(vec a, vec b) { return xsimd::copysign(a.v, b.v); }
  /// a0 b0 a1 b1 of every four lanes; zip_hi: a2 b2 a3 b3.
  friend AGO_INLINE vec zip_lo(vec a, vec b) {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return batch(_mm512_unpacklo_ps(a.v, b.v));
#endif
#if XSIMD_WITH_AVX2
    if constexpr (I == isa::avx2) return batch(_mm256_unpacklo_ps(a.v, b.v));
#endif
    if constexpr (size == 4) return xsimd::zip_lo(a.v, b.v);
  }
  friend AGO_INLINE vec zip_hi(vec a, vec b) {
#if XSIMD_WITH_AVX512F
    if constexpr (I == isa::avx512) return batch(_mm512_unpackhi_ps(a.v, b.v));
#endif
#if XSIMD_WITH_AVX2
    if constexpr (I == isa::avx2) return batch(_mm256_unpackhi_ps(a.v, b.v));
#endif
    if constexpr (size == 4) return xsimd::zip_hi(a.v, b.v);
  }

 private:
#if defined(__x86_64__) || defined(__i386__)
  AGO_INLINE static __m128 load_of_four(float const* p, int n) {
    if (n == 1) return _mm_load_ss(p);
    __m128 const low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<__m64 const*>(p));
    return n == 2 ? low : _mm_movelh_ps(low, _mm_load_ss(p + 2));
  }
  AGO_INLINE static void store_of_four(float* p, int n, __m128 x) {
    if (n == 1) return _mm_store_ss(p, x);
    _mm_storel_pi(reinterpret_cast<__m64*>(p), x);
    if (n == 3) _mm_store_ss(p + 2, _mm_movehl_ps(x, x));
  }
#elif defined(__aarch64__)
  AGO_INLINE static float32x4_t load_of_four(float const* p, int n) {
    float32x4_t const zero = vdupq_n_f32(0.f);
    if (n == 1) return vld1q_lane_f32(p, zero, 0);
    float32x4_t const low = vcombine_f32(vld1_f32(p), vget_low_f32(zero));
    return n == 2 ? low : vld1q_lane_f32(p + 2, low, 2);
  }
  AGO_INLINE static void store_of_four(float* p, int n, float32x4_t x) {
    if (n == 1) return vst1q_lane_f32(p, x, 0);
    vst1_f32(p, vget_low_f32(x));
    if (n == 3) vst1q_lane_f32(p + 2, x, 2);
  }
#endif
#if XSIMD_WITH_AVX2
  AGO_INLINE static __m256i mask(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
#endif
};

/// The register of `isa::scalar`: one float. For tests, and for machines without a vector unit.
template <>
struct vec<isa::scalar> {
  static constexpr int size = 1;
  float v;

  vec() = default;
  AGO_INLINE vec(float x) : v(x) {}
  AGO_INLINE static vec load(float const* p) { return *p; }
  AGO_INLINE static vec load(float const* p, int) { return *p; }
  AGO_INLINE void store(float* p) const { *p = v; }
  AGO_INLINE void store(float* p, int) const { *p = v; }

  friend AGO_INLINE vec operator+(vec a, vec b) { return a.v + b.v; }
  friend AGO_INLINE vec operator-(vec a, vec b) { return a.v - b.v; }
  friend AGO_INLINE vec operator-(vec a) { return -a.v; }
  friend AGO_INLINE vec operator*(vec a, vec b) { return a.v * b.v; }
  friend AGO_INLINE vec operator/(vec a, vec b) { return a.v / b.v; }
  friend AGO_INLINE vec min(vec a, vec b) { return a.v < b.v ? a : b; }
  friend AGO_INLINE vec max(vec a, vec b) { return a.v > b.v ? a : b; }
  friend AGO_INLINE vec abs(vec a) { return std::fabs(a.v); }
  friend AGO_INLINE vec sqrt(vec a) { return std::sqrt(a.v); }
  friend AGO_INLINE vec exp(vec a) { return std::exp(a.v); }
  friend AGO_INLINE vec log(vec a) { return std::log(a.v); }
  friend AGO_INLINE vec tanh(vec a) { return std::tanh(a.v); }
  friend AGO_INLINE vec erf(vec a) { return std::erf(a.v); }
  friend AGO_INLINE vec expm1(vec a) { return std::expm1(a.v); }
  friend AGO_INLINE vec log1p(vec a) { return std::log1p(a.v); }
  friend AGO_INLINE vec sin(vec a) { return std::sin(a.v); }
  friend AGO_INLINE vec cos(vec a) { return std::cos(a.v); }
  friend AGO_INLINE vec floor(vec a) { return std::floor(a.v); }
  friend AGO_INLINE vec ceil(vec a) { return std::ceil(a.v); }
  friend AGO_INLINE vec round_to_even(vec a) { return std::nearbyint(a.v); }
  friend AGO_INLINE vec fma(vec x, vec y, vec z) { return x.v * y.v + z.v; }
  friend AGO_INLINE vec where_less(vec a, vec b, vec x, vec y) { return a.v < b.v ? x : y; }
  friend AGO_INLINE vec where_nan(vec a, vec x, vec y) { return std::isnan(a.v) ? x : y; }
  friend AGO_INLINE vec copysign(vec a, vec b) { return std::copysign(a.v, b.v); }
};

/// w * x[L] + acc; requires has_lane_fma.
template <int L, isa I>
AGO_INLINE vec<I> fma_lane([[maybe_unused]] vec<I> w, [[maybe_unused]] vec<I> x, vec<I> acc) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) return typename vec<I>::batch(vfmaq_laneq_f32(acc.v, w.v, x.v, L));
#endif
  if constexpr (is_emulated(I)) return fma(w, vec<I>(x.lane[L]), acc);
  return acc;
}

/// Keeps a loaded vector in its register. g++'s allocator otherwise reads it again as a memory operand of every FMA
/// (measured: up to 30 % of a pointwise kernel). Use it only where all live values fit the registers; otherwise g++
/// spills.
template <isa I>
AGO_INLINE void keep([[maybe_unused]] vec<I>& x) {
#if defined(__GNUC__) && !defined(__clang__)
#if defined(__AVX2__)
  if constexpr (I == isa::avx2 || I == isa::avx512) asm("" : "+v"(x.v.data));
#elif defined(__aarch64__)
  if constexpr (I == isa::neon) asm("" : "+w"(x.v.data));
#endif
#endif
}

/// keep(), but not with 16 registers.
template <isa I>
AGO_INLINE void pin(vec<I>& x) {
  if constexpr (vector_registers(I) == 32) keep(x);
}

/// 0. The compiler knows neither its value nor that it is the same in every call.
AGO_INLINE float opaque_zero() {
  int bits = 0;
#if defined(__GNUC__)
  asm volatile("" : "+r"(bits));
#endif
  return __builtin_bit_cast(float, bits);
}

/// Makes the compiler advance an address. Otherwise it computes all addresses of a tile in advance, and spills them.
template <class T>
AGO_INLINE void pin([[maybe_unused]] T*& p) {
#if defined(__GNUC__)
  asm("" : "+r"(p));
#endif
}
AGO_INLINE void pin([[maybe_unused]] long& offset) {
#if defined(__GNUC__)
  asm("" : "+r"(offset));
#endif
}

}  // namespace ago::simd

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
