// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emulated SIMD registers: ago::simd::vec as an array of floats. With them, tests run and observe the code for other
// machines' registers.
#pragma once

#include <ago/ir/isa.hpp>

#include <cmath>

namespace ago::simd {

template <isa I> struct vec;

/// Called at every multiply-add of an emulated register, that is, for lanes(I) products; does nothing. A test that
/// counts them specialises it, in a program with a single translation unit.
template <isa I>
inline void watch_multiply_add() {}

/// Likewise, called wherever an emulated register is loaded from memory or stored.
template <isa I>
inline void watch_memory(float const*, int /*floats*/) {}

/// One register of `size` floats; its operations are those of the other registers, lane by lane. Each is a call: this
/// compiles fast, and prevents the compiler from contracting products with sums in some places only. Because fma rounds
/// once, in software if necessary, sums of products do not depend on the compiler and its flags.
template <isa I>
  requires(is_emulated(I))
struct vec<I> {
  static constexpr int size = lanes(I);
  float lane[size];

  vec() = default;
  [[gnu::noinline]] vec(float x) {
    for (float& y : lane) y = x;
  }
  [[gnu::noinline]] static vec load(float const* p) {
    watch_memory<I>(p, size);
    return each([=](int i) { return p[i]; });
  }
  [[gnu::noinline]] void store(float* p) const {
    watch_memory<I>(p, size);
    for (int i = 0; i < size; ++i) p[i] = lane[i];
  }
  /// The first n lanes, 0 < n < size; the others are zero. Reads nothing beyond p + n.
  [[gnu::noinline]] static vec load(float const* p, int n) {
    watch_memory<I>(p, n);
    return each([=](int i) { return i < n ? p[i] : 0.f; });
  }
  static vec load_fours(float const* p, long stride) {
    return each([&](int i) { return p[i / 4 * stride + i % 4]; });
  }
  /// Writes the first n lanes, 0 < n < size, and nothing beyond p + n.
  [[gnu::noinline]] void store(float* p, int n) const {
    watch_memory<I>(p, n);
    for (int i = 0; i < n; ++i) p[i] = lane[i];
  }

  void stream(float* p) const { store(p); }

  [[gnu::noinline]] friend vec operator+(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  [[gnu::noinline]] friend vec operator-(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  [[gnu::noinline]] friend vec operator-(vec const& a) {
    return each([&](int i) { return -a.lane[i]; });
  }
  [[gnu::noinline]] friend vec operator*(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  [[gnu::noinline]] friend vec operator/(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  /// If one of the operands is NaN: b.
  [[gnu::noinline]] friend vec min(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  [[gnu::noinline]] friend vec max(vec const& a, vec const& b) {
    return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  [[gnu::noinline]] friend vec abs(vec const& a) {
    return each([&](int i) { return std::fabs(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec sqrt(vec const& a) {
    return each([&](int i) { return std::sqrt(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec exp(vec const& a) {
    return each([&](int i) { return std::exp(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec log(vec const& a) {
    return each([&](int i) { return std::log(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec tanh(vec const& a) {
    return each([&](int i) { return std::tanh(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec erf(vec const& a) {
    return each([&](int i) { return std::erf(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec expm1(vec const& a) {
    return each([&](int i) { return std::expm1(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec log1p(vec const& a) {
    return each([&](int i) { return std::log1p(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec sin(vec const& a) {
    return each([&](int i) { return std::sin(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec cos(vec const& a) {
    return each([&](int i) { return std::cos(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec atan(vec const& a) {
    return each([&](int i) { return std::atan(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec floor(vec const& a) {
    return each([&](int i) { return std::floor(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec ceil(vec const& a) {
    return each([&](int i) { return std::ceil(a.lane[i]); });
  }
  [[gnu::noinline]] friend vec round_to_even(vec const& a) {
    return each([&](int i) { return std::nearbyint(a.lane[i]); });
  }
  /// x * y + z, rounded once.
  [[gnu::noinline]] friend vec fma(vec const& x, vec const& y, vec const& z) {
    watch_multiply_add<I>();
    return each([&](int i) { return std::fma(x.lane[i], y.lane[i], z.lane[i]); });
  }
  /// x where a < b, a <= b, or a == b, elsewhere y; y if one is NaN.
  [[gnu::noinline]] friend vec where_less(vec const& a, vec const& b, vec const& x, vec const& y) {
    return each([&](int i) { return a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]; });
  }
  [[gnu::noinline]] friend vec where_less_equal(vec const& a, vec const& b, vec const& x, vec const& y) {
    return each([&](int i) { return a.lane[i] <= b.lane[i] ? x.lane[i] : y.lane[i]; });
  }
  [[gnu::noinline]] friend vec where_equal(vec const& a, vec const& b, vec const& x, vec const& y) {
    return each([&](int i) { return a.lane[i] == b.lane[i] ? x.lane[i] : y.lane[i]; });
  }
  /// x where a is NaN, elsewhere y.
  [[gnu::noinline]] friend vec where_nan(vec const& a, vec const& x, vec const& y) {
    return each([&](int i) { return std::isnan(a.lane[i]) ? x.lane[i] : y.lane[i]; });
  }
  /// |a| with the sign of b.
  [[gnu::noinline]] friend vec copysign(vec const& a, vec const& b) {
    return each([&](int i) { return std::copysign(a.lane[i], b.lane[i]); });
  }
  [[gnu::noinline]] friend vec zip_lo(vec const& a, vec const& b) {
    return each([&](int i) { return (i % 2 ? b : a).lane[i / 4 * 4 + i % 4 / 2]; });
  }
  [[gnu::noinline]] friend vec zip_hi(vec const& a, vec const& b) {
    return each([&](int i) { return (i % 2 ? b : a).lane[i / 4 * 4 + 2 + i % 4 / 2]; });
  }

 private:
  template <class F>
  static vec each(F f) {
    vec r;
    for (int i = 0; i < size; ++i) r.lane[i] = f(i);
    return r;
  }
};

}  // namespace ago::simd
