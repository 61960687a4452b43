// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses and counters of loops that are scheduled by hand: arithmetic that stays in the order it is written in.
#pragma once

#include <ago/simd/simd.hpp>

namespace ago::simd {

#if defined(__aarch64__)
AGO_INLINE void subtract_one(long& x) { asm volatile("sub %0, %0, #1" : "+r"(x)); }
/// -1 if x < 0, otherwise 0.
AGO_INLINE void sign_mask(long& to, long x) { asm volatile("asr %0, %1, #63" : "=r"(to) : "r"(x)); }
/// The bits of x that are not in `mask`.
AGO_INLINE void bits_without(long& to, long x, long mask) {
  asm volatile("bic %0, %1, %2" : "=r"(to) : "r"(x), "r"(mask));
}
AGO_INLINE void add_bytes(float const*& p, long x) { asm volatile("add %0, %0, %1" : "+r"(p) : "r"(x)); }
AGO_INLINE void add_bytes(long& to, long x) { asm volatile("add %0, %0, %1" : "+r"(to) : "r"(x)); }
AGO_INLINE void copy(float const*& to, float const* p) { asm volatile("mov %0, %1" : "=r"(to) : "r"(p)); }
AGO_INLINE void add(float const*& to, float const* p, long bytes) {
  asm volatile("add %0, %1, %2" : "=r"(to) : "r"(p), "r"(bytes));
}
template <int Bytes>
AGO_INLINE void add_constant(float const*& p) {
  asm volatile("add %0, %0, %c1" : "+r"(p) : "i"(Bytes));
}
template <int Bytes>
AGO_INLINE void add_constant(long& x) {
  asm volatile("add %0, %0, %c1" : "+r"(x) : "i"(Bytes));
}
/// p - (x << Shift), in bytes
template <int Shift>
AGO_INLINE void subtract_shifted(float const*& p, long x) {
  asm volatile("sub %0, %0, %1, lsl #%c2" : "+r"(p) : "r"(x), "i"(Shift));
}
/// 1 if x < 0, otherwise 0.
AGO_INLINE void sign_bit(long& to, long x) { asm volatile("lsr %0, %1, #63" : "=r"(to) : "r"(x)); }
AGO_INLINE void add_bytes(float*& p, long x) { asm volatile("add %0, %0, %1" : "+r"(p) : "r"(x)); }
#else
AGO_INLINE void subtract_one(long& x) { --x; }
AGO_INLINE void sign_mask(long& to, long x) { to = x < 0 ? -1 : 0; }
AGO_INLINE void bits_without(long& to, long x, long mask) { to = x & ~mask; }
AGO_INLINE void add_bytes(float const*& p, long x) { p += x / long(sizeof *p); }
AGO_INLINE void add_bytes(long& to, long x) { to += x; }
AGO_INLINE void copy(float const*& to, float const* p) { to = p; }
AGO_INLINE void add(float const*& to, float const* p, long bytes) { to = p + bytes / long(sizeof *p); }
template <int Bytes>
AGO_INLINE void add_constant(float const*& p) {
  p += Bytes / int(sizeof *p);
}
template <int Bytes>
AGO_INLINE void add_constant(long& x) {
  x += Bytes;
}
template <int Shift>
AGO_INLINE void subtract_shifted(float const*& p, long x) {
  p -= (x << Shift) / long(sizeof *p);
}
AGO_INLINE void sign_bit(long& to, long x) { to = x < 0; }
AGO_INLINE void add_bytes(float*& p, long x) { p += x / long(sizeof *p); }
#endif

/// Tests a bit, by one instruction that stays where it is: compilers may compute tests long before, and keep the
/// results in memory.
template <int Bit>
AGO_INLINE bool is_set(long x) {
#if defined(__aarch64__)
  asm goto("tbz %0, #%c1, %l[clear]" : : "r"(x), "i"(Bit) : : clear);
  return true;
clear:
  return false;
#else
  return x >> Bit & 1;
#endif
}

}  // namespace ago::simd
