// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transcendental functions on registers, and the functions that a user's map may call: x * math::sigmoid(x).
#pragma once

#include <ago/simd/simd.hpp>

#include <bit>
#include <cstdint>

namespace ago::simd {

/// y * 2^n for t = n + 1.5 * 2^23: adds n to the exponent. y and the result are neither zero nor denormal.
template <isa I>
AGO_INLINE vec<I> times_power_of_two(vec<I> y, vec<I> t) {
  if constexpr (instructions<I>::has_registers) return instructions<I>::sum(y.v, t.v);
  if constexpr (is_emulated(I))
    for (int i = 0; i < lanes(I); ++i)
      y.lane[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(y.lane[i]) +
                                       (std::bit_cast<std::uint32_t>(t.lane[i]) << 23));
  return y;
}

/// exp(x) for -87 <= x <= 87 within 2 units in the last place; NaN for NaN. Reduces to |r| <= ln(2) / 2 (Cody and
/// Waite), then evaluates the polynomial of Cephes' expf as shortened by xsimd.
template <isa I>
AGO_INLINE vec<I> exp_in_range(vec<I> x) {
  using v = vec<I>;
  v const shift(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  v const t = fma(x, v(1.44269504f), shift), n = t - shift;
  v const r = fma(n, v(2.12194440e-4f), fma(n, v(-.693359375f), x));
  v p = fma(v(1.3997796e-3f), r, v(8.3955629e-3f));
  p = fma(p, r, v(4.1665401e-2f));
  p = fma(p, r, v(1.6666277e-1f));
  p = fma(p, r, v(.5f));
  return times_power_of_two(v(1.f) + fma(p, r * r, r), t);
}

/// 2^n for t = n + 127 + 1.5 * 2^23, n = -127 ... 127; 2^-127 counts as 0.
template <isa I>
AGO_INLINE vec<I> power_of_two(vec<I> t) {
  if constexpr (instructions<I>::has_registers) return instructions<I>::shifted(t.v);
  if constexpr (I == isa::scalar) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(t.v) << 23);
  if constexpr (is_emulated(I))
    for (float& lane : t.lane) lane = std::bit_cast<float>(std::bit_cast<std::uint32_t>(lane) << 23);
  return t;
}

/// exp(SIGN * r) for |r| <= ln(2) / 2, within 9.2e-8 of it: the minimax polynomial that is 1 at 0.
template <int SIGN, isa I>
AGO_INLINE vec<I> exp_near_zero(vec<I> r) {
  using v = vec<I>;
  v p = fma(v(SIGN * 8.29022981e-3f), r, v(4.189839e-2f));
  p = fma(p, r, v(SIGN * .166676401f));
  p = fma(p, r, v(.499991461f));
  p = fma(p, r, v(SIGN * .999999705f));
  return fma(p, r, v(1.f));
}

/// exp(x) for x <= 0, including minus infinity: within 3 units in the last place for x >= -87.3, 0 for x < -87.7, and
/// within 2e-38 in between. NaN for NaN.
template <isa I>
AGO_INLINE vec<I> exp_of_negative(vec<I> x) {
  using v = vec<I>;
  v const shift(12583039.f);  // 1.5 * 2^23 + 127
  x = max(v(-88.1f), x);
  v const t = fma(x, v(1.44269504f), shift), n = t - shift;
  v const r = fma(n, v(2.12194440e-4f), fma(n, v(-.693359375f), x));  // Cody and Waite
  return exp_near_zero<1>(r) * power_of_two(t);
}

/// 2^x for x <= 0, including minus infinity: within 3 units in the last place for x >= -126, 0 for x <= -127, and
/// within 2^-126 in between. NaN for NaN.
template <isa I>
AGO_INLINE vec<I> exp2_of_negative(vec<I> x) {
  using v = vec<I>;
  // For |r| <= 1/2 within 1.01e-7: the minimax polynomial that is 1 at 0.
  auto const near_zero = [](v r) AGO_INLINE_LAMBDA {
    v p = fma(v(1.32647273e-3f), r, v(9.67150554e-3f));
    p = fma(p, r, v(5.55073135e-2f));
    p = fma(p, r, v(.240222439f));
    p = fma(p, r, v(.693147004f));
    return fma(p, r, v(1.f));
  };
  if constexpr (instructions<I>::has_scalef) {
    v const n = instructions<I>::rounded(x.v);
    auto const counts = instructions<I>::not_less(x.v, -126.f);
    return instructions<I>::scaled(counts, near_zero(x - n).v, n.v);
  }
  v const shift(12583039.f);  // 1.5 * 2^23 + 127
  x = max(v(-127.f), x);
  v const t = x + shift, n = t - shift;
  return near_zero(x - n) * power_of_two(t);
}

/// a / d for 1 <= d <= exp(87), within two units in the last place.
template <isa I>
AGO_INLINE vec<I> quotient(vec<I> a, vec<I> d) {
  if constexpr (instructions<I>::has_reciprocal_estimate) {
    vec<I> const r = instructions<I>::reciprocal_estimate(d.v);
    return a * fma(r, fma(-d, r, vec<I>(1.f)), r);
  }
  return a / d;
}

/// 1 / (1 + exp(-x)) within 4 units in the last place for x > -87, and less than 2e-38 below that. NaN for NaN.
template <isa I>
AGO_INLINE vec<I> logistic(vec<I> x) {
  if constexpr (I == isa::scalar) return vec<I>(1.f) / (vec<I>(1.f) + exp(-max(vec<I>(-87.f), x)));
  else return quotient(vec<I>(1.f), vec<I>(1.f) + exp_in_range(-min(vec<I>(87.f), max(vec<I>(-87.f), x))));
}

/// a^b = exp(b log |a|) with the sign of the power: within 4 + 2 |b log a| units in the last place, infinity beyond
/// 2.4e38. Zeros, infinities and NaN give the results of the C library's pow; a negative number to a power that is not
/// whole is NaN.
template <isa I>
AGO_INLINE vec<I> power(vec<I> a, vec<I> b) {
  using v = vec<I>;
  v const zero(0.f), one(1.f), least(1e-45f), most(3.4028235e38f);
  // An infinite exponent is replaced by a large one: times log 1 it is 0, not NaN.
  v const size = exp(min(most, max(-most, b)) * log(abs(a)));
  v const half = b * v(.5f), whole = where_less(floor(half), half, copysign(size, a), size);
  v const broken = where_less(a, zero, where_less(a, -most, size, v(__builtin_nanf(""))), size);
  v const all = where_less(floor(b), b, broken, whole);
  return where_less(abs(b), least, one, where_less(abs(a - one), least, one, all));
}

/// y / (1 + exp(-x)) within 1.5e-7 * |y|, in three quarters of the instructions of logistic(). y below -87 is replaced
/// by -87, so that silu at minus infinity is its limit, 0, not NaN.
template <isa I>
AGO_INLINE vec<I> times_logistic(vec<I> y, vec<I> x) {
  using v = vec<I>;
  v const shift(12583039.f);
  x = min(v(87.f), max(v(-87.f), x));
  v const t = fma(x, v(-1.44269504f), shift), n = t - shift;
  v const r = fma(n, v(.693147182f), x);  // exp(-x) = 2^n * exp(-r)
  return quotient(max(v(-87.f), y), fma(exp_near_zero<-1>(r), power_of_two(t), v(1.f)));
}

/// x * Phi(x), with the normal distribution function Phi, within 1.6e-7 * max(1, |x|); at minus infinity its limit, 0,
/// within 2e-7. Phi(-a)^(1/4) is approximated by a polynomial for 0 <= a <= 5.5; beyond, a * Phi(-a) is taken to be
/// constant. The fourth power reduces the polynomial's error where the value is small, so a degree of 8 suffices.
template <isa I>
AGO_INLINE vec<I> gelu_of(vec<I> x) {
  using v = vec<I>;
  v const b = max(v(-5.5f), min(x, -x));  // -a; of a NaN: NaN
  v p = fma(v(-3.4104396e-6f), b, v(-5.84701484e-5f));
  p = fma(p, b, v(-3.07064009e-4f));
  p = fma(p, b, v(3.88937297e-5f));
  p = fma(p, b, v(3.80742899e-3f));
  p = fma(p, b, v(-4.63174284e-3f));
  p = fma(p, b, v(-5.01842014e-2f));
  p = fma(p, b, v(.167738616f));
  p = fma(p, b, v(.840896964f));
  p = p * p;
  return fma(b, p * p, max(v(0.f), x));
}

}  // namespace ago::simd

/// Elementwise functions on one register, for `map{[](auto x) { return x * math::sigmoid(x); }}`. They must be
/// qualified with their namespace, because layers have some of these names.
namespace ago::math {

/// The C library's function of the same name.
/// @{
template <isa I> AGO_INLINE simd::vec<I> exp(simd::vec<I> x) { return exp(x); }
template <isa I> AGO_INLINE simd::vec<I> log(simd::vec<I> x) { return log(x); }
template <isa I> AGO_INLINE simd::vec<I> sqrt(simd::vec<I> x) { return sqrt(x); }
template <isa I> AGO_INLINE simd::vec<I> abs(simd::vec<I> x) { return abs(x); }
template <isa I> AGO_INLINE simd::vec<I> erf(simd::vec<I> x) { return erf(x); }
template <isa I> AGO_INLINE simd::vec<I> tanh(simd::vec<I> x) { return tanh(x); }
template <isa I> AGO_INLINE simd::vec<I> expm1(simd::vec<I> x) { return expm1(x); }
template <isa I> AGO_INLINE simd::vec<I> log1p(simd::vec<I> x) { return log1p(x); }
template <isa I> AGO_INLINE simd::vec<I> sin(simd::vec<I> x) { return sin(x); }
template <isa I> AGO_INLINE simd::vec<I> cos(simd::vec<I> x) { return cos(x); }
template <isa I> AGO_INLINE simd::vec<I> atan(simd::vec<I> x) { return atan(x); }
template <isa I> AGO_INLINE simd::vec<I> floor(simd::vec<I> x) { return floor(x); }
template <isa I> AGO_INLINE simd::vec<I> ceil(simd::vec<I> x) { return ceil(x); }
/// @}
/// The nearest integer; ties go to the even one.
template <isa I> AGO_INLINE simd::vec<I> round(simd::vec<I> x) { return round_to_even(x); }
/// a to the power of b.
template <isa I> AGO_INLINE simd::vec<I> pow(simd::vec<I> a, simd::vec<I> b) { return power(a, b); }
/// The smaller one; b if either is NaN (NEON: NaN).
template <isa I> AGO_INLINE simd::vec<I> min(simd::vec<I> a, simd::vec<I> b) { return min(a, b); }
/// The larger one; b if either is NaN (NEON: NaN).
template <isa I> AGO_INLINE simd::vec<I> max(simd::vec<I> a, simd::vec<I> b) { return max(a, b); }
/// 1 / (1 + exp(-x)).
template <isa I> AGO_INLINE simd::vec<I> sigmoid(simd::vec<I> x) { return logistic(x); }
/// x where a < b, elsewhere y.
template <isa I> AGO_INLINE simd::vec<I> where_less(simd::vec<I> a, simd::vec<I> b, simd::vec<I> x, simd::vec<I> y) {
  return where_less(a, b, x, y);
}

}  // namespace ago::math
