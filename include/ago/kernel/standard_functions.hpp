// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// std::exp(x) and the like of a register: a sentence instead of all functions of that name.
#pragma once

#include <ago/graph/isa.hpp>

namespace ago {

template <isa I> struct vec;

namespace detail {
template <class T>
inline constexpr bool is_register = false;
template <isa I>
inline constexpr bool is_register<vec<I>> = true;
}  // namespace detail

/// ago::vec of any instruction set.
template <class T>
concept simd_register = detail::is_register<T>;

/// False for one register, so that it is said once: a lambda is compiled for those of all instruction sets.
template <simd_register R>
inline constexpr bool calls_std = true;
template <>
inline constexpr bool calls_std<vec<isa::scalar>> = false;

}  // namespace ago

// No program that calls one of these compiles. They are in std all the same, where only the library may declare
// functions: std::exp(x) is looked up nowhere else. The sentence alone is a macro: of a macro that holds a function
// compilers tell where it is expanded.
#define AGO_NOT_STD \
  "ago: a map's lambda works on SIMD registers: call math::exp(x) and the like instead of std::exp(x)"
namespace std {
template <ago::simd_register R> R exp(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R exp2(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R expm1(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R log(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R log2(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R log10(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R log1p(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R sqrt(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R cbrt(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R abs(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R fabs(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R erf(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R tanh(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R sinh(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R cosh(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R sin(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R cos(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R tan(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R atan(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R floor(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R ceil(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R trunc(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R round(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R rint(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R> R nearbyint(R x) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R, class T>
R pow(R const& x, T const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R, class T>
R fmax(R const& x, T const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R, class T>
R fmin(R const& x, T const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R, class T>
R max(R const& x, T const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R, class T>
R min(R const& x, T const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R>
R max(R const& x, R const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd_register R>
R min(R const& x, R const&) { static_assert(ago::calls_std<R>, AGO_NOT_STD); return x; }
}  // namespace std
#undef AGO_NOT_STD
