// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Overloads of std::exp and similar functions for registers, for a clear error message instead of a list of candidates.
#pragma once

#include <ago/ir/isa.hpp>

namespace ago::simd {

template <isa I> struct vec;

template <class T>
inline constexpr bool is_register = false;
template <isa I>
inline constexpr bool is_register<vec<I>> = true;

/// ago::simd::vec of any instruction set.
template <class T>
concept simd_register = is_register<T>;

/// False for one register only, so that the error is reported once: a lambda is compiled for the registers of all
/// instruction sets.
template <simd_register R>
inline constexpr bool calls_std = true;
template <>
inline constexpr bool calls_std<vec<isa::scalar>> = false;

}  // namespace ago::simd

// Programs that call one of these do not compile. They must be in std, although only the standard library may declare
// functions there, because std::exp(x) is looked up nowhere else. Only the message is a macro: if the functions were
// one, compilers would also report where it is expanded.
#define AGO_NOT_STD "ago: a map's lambda works on SIMD registers: call math::exp(x) and the like instead of std::exp(x)"
namespace std {
// clang-format off
template <ago::simd::simd_register R> R exp(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R exp2(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R expm1(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R log(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R log2(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R log10(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R log1p(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R sqrt(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R cbrt(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R abs(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R fabs(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R erf(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R tanh(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R sinh(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R cosh(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R sin(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R cos(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R tan(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R atan(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R floor(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R ceil(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R trunc(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R round(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R> R rint(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R>
R nearbyint(R x) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R, class T>
R pow(R const& x, T const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R, class T>
R fmax(R const& x, T const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R, class T>
R fmin(R const& x, T const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R, class T>
R max(R const& x, T const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R, class T>
R min(R const& x, T const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R>
R max(R const& x, R const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
template <ago::simd::simd_register R>
R min(R const& x, R const&) { static_assert(ago::simd::calls_std<R>, AGO_NOT_STD); return x; }
// clang-format on
}  // namespace std
#undef AGO_NOT_STD
