// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is particular to an instruction set: instructions<I>, in a file of its own. The only file that includes xsimd,
// which computes everything else.
#pragma once

#include <ago/ir/isa.hpp>

// g++ 12 warns of the deliberately undefined operand of some AVX-512 intrinsics (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <xsimd/xsimd.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace ago::simd {

/// Kernels consist of small functions that must be inlined: only then does a register tile stay in registers. Without
/// optimisation nothing stays there, and inlining takes up to a fifth of g++'s time, and most of sanitizing Clang's.
#if defined(__OPTIMIZE__)
#define AGO_INLINE __attribute__((always_inline)) inline
#define AGO_INLINE_LAMBDA __attribute__((always_inline))
#else
#define AGO_INLINE inline
#define AGO_INLINE_LAMBDA
#endif
/// Before a loop: copies its body up to n times, as often as it turns where that is a constant, which keeps a tile's
/// registers apart.
#define AGO_UNROLL(n) AGO_PRAGMA(GCC unroll n)
#define AGO_PRAGMA(text) _Pragma(#text)

/// The operations of an instruction set's registers. This one has none: it is emulated, or its file is compiled without
/// the flags for it.
template <isa I>
struct instructions {
  static constexpr bool has_registers = false, has_scalef = false, has_reciprocal_estimate = false;
};

/// What xsimd computes well with registers of any instruction set. Sets state what they compute otherwise, and
/// - load(p, n), store(p, n, x): the first n lanes, 0 < n < size; the others are zero, and nothing beyond is accessed,
/// - stream(p, x), if they have such an instruction: to aligned memory, past the caches,
/// - load_fours(p, stride): four floats from each of p, p + stride, ...,
/// - shifted(t): the bits of each lane, shifted left to the exponent; sum(y, t): with these added to the bits of y.
template <class Architecture>
struct common_instructions {
  using batch = xsimd::batch<float, Architecture>;
  static constexpr int size = int(batch::size);
  static constexpr bool has_registers = true, has_scalef = false, has_reciprocal_estimate = false;

  AGO_INLINE static batch negative(batch a) { return -a; }
  AGO_INLINE static batch quotient(batch a, batch b) { return a / b; }
  AGO_INLINE static batch root(batch a) { return xsimd::sqrt(a); }
  AGO_INLINE static batch floor(batch a) { return xsimd::floor(a); }
  AGO_INLINE static batch ceil(batch a) { return xsimd::ceil(a); }
  AGO_INLINE static batch fma(batch x, batch y, batch z) { return xsimd::fma(x, y, z); }
  AGO_INLINE static batch zip_lo(batch a, batch b) { return xsimd::zip_lo(a, b); }
  AGO_INLINE static batch zip_hi(batch a, batch b) { return xsimd::zip_hi(a, b); }
  AGO_INLINE static batch load_fours(float const* p, long) { return batch::load_unaligned(p); }
  /// See simd::keep.
  AGO_INLINE static void keep(batch&) {}
  /// p[0], p[STEP], p[2 * STEP] ... in the first COUNT lanes; the others are anything.
  template <int COUNT, int STEP>
  AGO_INLINE static batch load_spaced(float const* p) {
    float all[size]{};
    for (int i = 0; i < COUNT; ++i) all[i] = p[long(i) * STEP];
    return batch::load_unaligned(all);
  }
};

}  // namespace ago::simd
