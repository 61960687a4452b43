// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One SIMD register of floats, ago::simd::vec<isa>. It includes the file of every instruction set.
#pragma once

#include <ago/simd/avx2.hpp>
#include <ago/simd/avx512.hpp>
#include <ago/simd/emulated.hpp>
#include <ago/simd/neon.hpp>
#include <ago/simd/sse.hpp>

#include <cmath>

namespace ago::simd {

/// One register of `size` floats.
template <isa I>
struct vec {
  using own = instructions<I>;
  using batch = typename own::batch;
  static constexpr int size = lanes(I);
  batch v;

  vec() = default;
  AGO_INLINE vec(batch x) : v(x) {}
  AGO_INLINE vec(float x) : v(x) {}

  /// Any alignment.
  AGO_INLINE static vec load(float const* p) { return batch::load_unaligned(p); }
  AGO_INLINE void store(float* p) const { v.store_unaligned(p); }
  /// The first n lanes, 0 < n < size; the others are zero. Reads nothing beyond p + n.
  AGO_INLINE static vec load(float const* p, int n) { return own::load(p, n); }
  /// Four floats from each of p, p + stride, p + 2 * stride ...
  AGO_INLINE static vec load_fours(float const* p, long stride) { return own::load_fours(p, stride); }
  /// Writes the first n lanes, 0 < n < size, and nothing beyond p + n.
  AGO_INLINE void store(float* p, int n) const { own::store(p, n, v); }
  /// To aligned memory, past the caches. If has_streaming_stores(I); see stream_run.
  AGO_INLINE void stream(float* p) const { own::stream(p, v); }

  friend AGO_INLINE vec operator+(vec a, vec b) { return a.v + b.v; }
  friend AGO_INLINE vec operator-(vec a, vec b) { return a.v - b.v; }
  friend AGO_INLINE vec operator-(vec a) { return own::negative(a.v); }
  friend AGO_INLINE vec operator*(vec a, vec b) { return a.v * b.v; }
  friend AGO_INLINE vec operator/(vec a, vec b) { return own::quotient(a.v, b.v); }
  /// If one of the operands is NaN: b (on neon: NaN).
  friend AGO_INLINE vec min(vec a, vec b) { return xsimd::min(a.v, b.v); }
  friend AGO_INLINE vec max(vec a, vec b) { return xsimd::max(a.v, b.v); }
  friend AGO_INLINE vec abs(vec a) { return xsimd::abs(a.v); }
  friend AGO_INLINE vec sqrt(vec a) { return own::root(a.v); }
  friend AGO_INLINE vec exp(vec a) { return xsimd::exp(a.v); }
  friend AGO_INLINE vec log(vec a) { return xsimd::log(a.v); }
  friend AGO_INLINE vec tanh(vec a) { return xsimd::tanh(a.v); }
  friend AGO_INLINE vec erf(vec a) { return xsimd::erf(a.v); }
  friend AGO_INLINE vec expm1(vec a) { return xsimd::expm1(a.v); }
  friend AGO_INLINE vec log1p(vec a) { return xsimd::log1p(a.v); }
  friend AGO_INLINE vec sin(vec a) { return xsimd::sin(a.v); }
  friend AGO_INLINE vec cos(vec a) { return xsimd::cos(a.v); }
  friend AGO_INLINE vec atan(vec a) { return xsimd::atan(a.v); }
  friend AGO_INLINE vec floor(vec a) { return own::floor(a.v); }
  friend AGO_INLINE vec ceil(vec a) { return own::ceil(a.v); }
  /// The nearest integer; ties go to the even one.
  friend AGO_INLINE vec round_to_even(vec a) { return xsimd::nearbyint(a.v); }
  /// x * y + z, rounded once if the hardware can.
  friend AGO_INLINE vec fma(vec x, vec y, vec z) { return own::fma(x.v, y.v, z.v); }
  /// x where a < b, a <= b, or a == b, elsewhere y; y if one is NaN.
  friend AGO_INLINE vec where_less(vec a, vec b, vec x, vec y) { return xsimd::select(a.v < b.v, x.v, y.v); }
  friend AGO_INLINE vec where_less_equal(vec a, vec b, vec x, vec y) { return xsimd::select(a.v <= b.v, x.v, y.v); }
  friend AGO_INLINE vec where_equal(vec a, vec b, vec x, vec y) { return xsimd::select(a.v == b.v, x.v, y.v); }
  /// x where a is NaN, elsewhere y.
  friend AGO_INLINE vec where_nan(vec a, vec x, vec y) { return xsimd::select(xsimd::isnan(a.v), x.v, y.v); }
  /// |a| with the sign of b.
  friend AGO_INLINE vec copysign(vec a, vec b) { return xsimd::copysign(a.v, b.v); }
  /// a0 b0 a1 b1 of every four lanes; zip_hi: a2 b2 a3 b3.
  friend AGO_INLINE vec zip_lo(vec a, vec b) { return own::zip_lo(a.v, b.v); }
  friend AGO_INLINE vec zip_hi(vec a, vec b) { return own::zip_hi(a.v, b.v); }
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
  friend AGO_INLINE vec atan(vec a) { return std::atan(a.v); }
  friend AGO_INLINE vec floor(vec a) { return std::floor(a.v); }
  friend AGO_INLINE vec ceil(vec a) { return std::ceil(a.v); }
  friend AGO_INLINE vec round_to_even(vec a) { return std::nearbyint(a.v); }
  friend AGO_INLINE vec fma(vec x, vec y, vec z) { return x.v * y.v + z.v; }
  friend AGO_INLINE vec where_less(vec a, vec b, vec x, vec y) { return a.v < b.v ? x : y; }
  friend AGO_INLINE vec where_less_equal(vec a, vec b, vec x, vec y) { return a.v <= b.v ? x : y; }
  friend AGO_INLINE vec where_equal(vec a, vec b, vec x, vec y) { return a.v == b.v ? x : y; }
  friend AGO_INLINE vec where_nan(vec a, vec x, vec y) { return std::isnan(a.v) ? x : y; }
  friend AGO_INLINE vec copysign(vec a, vec b) { return std::copysign(a.v, b.v); }
};

/// w * x[L] + acc; requires has_lane_fma.
template <int L, isa I>
AGO_INLINE vec<I> fma_lane([[maybe_unused]] vec<I> w, [[maybe_unused]] vec<I> x, vec<I> acc) {
  if constexpr (instructions<I>::has_registers && has_lane_fma(I))
    return instructions<I>::template fma_lane<L>(w.v, x.v, acc.v);
  if constexpr (is_emulated(I)) return fma(w, vec<I>(x.lane[L]), acc);
  return acc;
}

/// Keeps a loaded vector in its register. g++'s allocator otherwise reads it again as a memory operand of every FMA
/// (measured: up to 30 % of a pointwise kernel). Use it only where all live values fit the registers; otherwise g++
/// spills.
template <isa I>
AGO_INLINE void keep([[maybe_unused]] vec<I>& x) {
  if constexpr (instructions<I>::has_registers) instructions<I>::keep(x.v);
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
