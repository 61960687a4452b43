// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that stay in the order in which they are written, for loops that are scheduled by hand.
// Otherwise compilers move the loads of an unrolled loop far ahead, and spill values that then no longer fit the
// registers (g++ 12), or group the loads, which stalls in-order cores. See docs/kernels.md.
#pragma once

#include <ago/simd/simd.hpp>

#include <cstring>

namespace ago::simd {

#if defined(__aarch64__)
/// The memory operand of a load: everything from p on.
using any_floats = float const[1 << 28];
#endif

/// Loads `Floats` lanes from `bytes` after p; the other lanes are zero.
template <int Floats, isa I>
AGO_INLINE void load_input(vec<I>& x, float const* p, long bytes) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    if constexpr (Floats == 1) asm volatile("ldr %s0, [%1, %2]" : "=w"(x.v.data) : "r"(p), "r"(bytes), "m"(memory));
    else if constexpr (Floats == 2)
      asm volatile("ldr %d0, [%1, %2]" : "=w"(x.v.data) : "r"(p), "r"(bytes), "m"(memory));
    else asm volatile("ldr %q0, [%1, %2]" : "=w"(x.v.data) : "r"(p), "r"(bytes), "m"(memory));
    return;
  }
#endif
  if constexpr (Floats < lanes(I)) x = vec<I>::load(p + bytes / 4, Floats);
  else x = vec<I>::load(p + bytes / 4);
}

/// Loads vector number `Index` of those from p on.
template <int Index, isa I>
AGO_INLINE void load_vector(vec<I>& x, float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %q0, [%1, %c2]" : "=w"(x.v.data) : "r"(p), "i"(16 * Index), "m"(memory));
    return;
  }
#endif
  x = vec<I>::load(p + Index * lanes(I));
}

/// Loads vectors number `Index` and `Index` + 1 of those from p on, by one instruction.
template <int Index, isa I>
AGO_INLINE void load_vectors(vec<I>& x, vec<I>& y, float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    static_assert(Index < 64, "no larger number can be in the instruction");
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldp %q0, %q1, [%2, %c3]" : "=&w"(x.v.data), "=w"(y.v.data) : "r"(p), "i"(16 * Index), "m"(memory));
    return;
  }
#endif
  x = vec<I>::load(p + Index * lanes(I));
  y = vec<I>::load(p + (Index + 1) * lanes(I));
}

/// The upper half of a register on its way there, in a general register.
using upper_half = unsigned long;

/// Loads the upper half of vector number `Index` of those from p on.
template <isa I, int Index>
AGO_INLINE void load_high(upper_half& high, float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %0, [%1, %c2]" : "=r"(high) : "r"(p), "i"(16 * Index + 8), "m"(memory));
    return;
  }
#endif
  std::memcpy(&high, p + Index * lanes(I) + 2, sizeof high);
}

/// Loads the upper half of the vector that is `bytes` after p.
template <isa I>
AGO_INLINE void load_input_high(upper_half& high, float const* p, long bytes) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %0, [%1, %2]" : "=r"(high) : "r"(p), "r"(bytes + 8), "m"(memory));
    return;
  }
#endif
  std::memcpy(&high, p + bytes / 4 + 2, sizeof high);
}

/// Loads 8 bytes into a general register, from `bytes` after p.
template <isa I>
AGO_INLINE void load_input_general(upper_half& to, float const* p, long bytes) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %0, [%1, %2]" : "=r"(to) : "r"(p), "r"(bytes), "m"(memory));
    return;
  }
#endif
  std::memcpy(&to, p + bytes / 4, sizeof to);
}

/// Replaces the third and fourth lane of x, by way of memory.
template <isa I>
AGO_INLINE void replace_upper(vec<I>& x, void const* two_floats) {
  float halves[lanes(I)];
  x.store(halves);
  std::memcpy(halves + 2, two_floats, 2 * sizeof(float));
  x = vec<I>::load(halves);
}

/// Sets the upper half of x.
template <isa I>
AGO_INLINE void join(vec<I>& x, upper_half high) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("ins %0.d[1], %1" : "+w"(x.v.data) : "r"(high));
    return;
  }
#endif
  replace_upper(x, &high);
}

/// Sets the upper half of x to the lower one of y.
template <isa I>
AGO_INLINE void join(vec<I>& x, vec<I> const& y) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("ins %0.d[1], %1.d[0]" : "+w"(x.v.data) : "w"(y.v.data));
    return;
  }
#endif
  float lower[lanes(I)];
  y.store(lower);
  replace_upper(x, lower);
}

/// Sets the lower half of `to` to the upper one of x; the upper one is zero.
template <isa I>
AGO_INLINE void upper_to_lower(vec<I>& to, vec<I> const& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("mov %d0, %1.d[1]" : "=w"(to.v.data) : "w"(x.v.data));
    return;
  }
#endif
  float halves[lanes(I)];
  x.store(halves);
  to = vec<I>::load(halves + 2, 2);
}

/// Loads half number `Index` of those from p on; the upper half is zero.
template <int Index, isa I>
AGO_INLINE void load_half(vec<I>& x, float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %d0, [%1, %c2]" : "=w"(x.v.data) : "r"(p), "i"(8 * Index), "m"(memory));
    return;
  }
#endif
  x = vec<I>::load(p + Index * 2, 2);
}

/// Loads float number `Index` of those from p on; the other lanes are zero.
template <int Index, isa I>
AGO_INLINE void load_lane(vec<I>& x, float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    auto const& memory = *reinterpret_cast<any_floats*>(p);
    asm volatile("ldr %s0, [%1, %c2]" : "=w"(x.v.data) : "r"(p), "i"(4 * Index), "m"(memory));
    return;
  }
#endif
  x = vec<I>::load(p + Index, 1);
}

/// acc + w * x[Lane] in the lower half; the upper one is zero.
template <int Lane, isa I>
AGO_INLINE void multiply_half_lane(vec<I>& acc, vec<I> const& w, vec<I> const& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmla %0.2s, %1.2s, %2.s[%c3]" : "+w"(acc.v.data) : "w"(w.v.data), "w"(x.v.data), "i"(Lane));
    return;
  }
#endif
  acc = fma_lane<Lane>(w, x, acc);
}

/// acc + w * x[Lane]
template <int Lane, isa I>
AGO_INLINE void multiply_lane(vec<I>& acc, vec<I> const& w, vec<I> const& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmla %0.4s, %1.4s, %2.s[%c3]" : "+w"(acc.v.data) : "w"(w.v.data), "w"(x.v.data), "i"(Lane));
    return;
  }
#endif
  acc = fma_lane<Lane>(w, x, acc);
}

/// acc + w * x
template <isa I>
AGO_INLINE void multiply(vec<I>& acc, vec<I> const& w, vec<I> const& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc.v.data) : "w"(w.v.data), "w"(x.v.data));
    return;
  }
#endif
  acc = fma(w, x, acc);
}

/// to = x + y
template <isa I>
AGO_INLINE void add(vec<I>& to, vec<I> const& x, vec<I> const& y) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fadd %0.4s, %1.4s, %2.4s" : "=w"(to.v.data) : "w"(x.v.data), "w"(y.v.data));
    return;
  }
#endif
  to = x + y;
}

/// to = x - y
template <isa I>
AGO_INLINE void subtract(vec<I>& to, vec<I> const& x, vec<I> const& y) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fsub %0.4s, %1.4s, %2.4s" : "=w"(to.v.data) : "w"(x.v.data), "w"(y.v.data));
    return;
  }
#endif
  to = x - y;
}

/// to = x * y[Lane]
template <int Lane, isa I>
AGO_INLINE void multiply_by_lane(vec<I>& to, vec<I> const& x, vec<I> const& y) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmul %0.4s, %1.4s, %2.s[%c3]" : "=w"(to.v.data) : "w"(x.v.data), "w"(y.v.data), "i"(Lane));
    return;
  }
#endif
  float factors[lanes(I)];
  y.store(factors);
  to = x * vec<I>(factors[Lane]);
}

/// Uses `st1`, which occupies the pipes that multiply for half as long as `str` (Cortex-A76).
template <isa I>
AGO_INLINE void store(vec<I> const& x, float* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("st1 {%1.4s}, [%2]" : "=m"(*reinterpret_cast<float(*)[4]>(p)) : "w"(x.v.data), "r"(p));
    return;
  }
#endif
  x.store(p);
}

/// store(), and adds to p.
template <isa I>
AGO_INLINE void store_and_advance(vec<I> const& x, float*& p, long bytes) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("st1 {%1.4s}, [%0], %2" : "+r"(p) : "w"(x.v.data), "r"(bytes) : "memory");
    return;
  }
#endif
  x.store(p);
  p += bytes / 4;
}

template <long Bytes, isa I>
AGO_INLINE void store_and_advance(vec<I> const& x, float*& p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    static_assert(Bytes == 16, "no other number can be in the instruction");
    asm volatile("st1 {%1.4s}, [%0], #16" : "+r"(p) : "w"(x.v.data) : "memory");
    return;
  }
#endif
  x.store(p);
  p += Bytes / 4;
}

template <int Number, isa I>
AGO_INLINE void set_constant(vec<I>& to) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    if constexpr (Number == 0) asm volatile("movi %0.4s, #0" : "=w"(to.v.data));
    else asm volatile("fmov %0.4s, #%c1.0" : "=w"(to.v.data) : "i"(Number));
    return;
  }
#endif
  to = vec<I>(float(Number));
}

/// The larger of x and `bound`, or NaN; lower: the smaller.
template <isa I>
AGO_INLINE void raise(vec<I>& x, vec<I> const& bound) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmax %0.4s, %0.4s, %1.4s" : "+w"(x.v.data) : "w"(bound.v.data));
    return;
  }
#endif
  x = max(bound, x);
}
template <isa I>
AGO_INLINE void lower(vec<I>& x, vec<I> const& bound) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("fmin %0.4s, %0.4s, %1.4s" : "+w"(x.v.data) : "w"(bound.v.data));
    return;
  }
#endif
  x = min(bound, x);
}

/// Prefetches the line `Bytes` after p, to be read.
template <isa I, int Bytes = 0>
AGO_INLINE void fetch_line(float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("prfm pldl1keep, [%0, %c1]" : : "r"(p), "i"(Bytes));
    return;
  }
#endif
  __builtin_prefetch(p + Bytes / 4);
}

/// Prefetches the line `Bytes` after p, to be written.
template <isa I, int Bytes = 0>
AGO_INLINE void fetch_line_to_write(float const* p) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("prfm pstl1keep, [%0, %c1]" : : "r"(p), "i"(Bytes));
    return;
  }
#endif
  __builtin_prefetch(p + Bytes / 4, 1);
}

/// to = x
template <isa I>
AGO_INLINE void set(vec<I>& to, vec<I> const& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("mov %0.16b, %1.16b" : "=w"(to.v.data) : "w"(x.v.data));
    return;
  }
#endif
  to = x;
}

/// Ends the lifetime of x's value. If x is loaded and used only under a condition, it would otherwise occupy a register
/// from the start of the function.
template <isa I>
AGO_INLINE void forget(vec<I>& x) {
#if defined(__aarch64__)
  if constexpr (I == isa::neon) {
    asm volatile("" : "=w"(x.v.data));
    return;
  }
#endif
  x = vec<I>(0.f);
}

}  // namespace ago::simd
