// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asking for memory before it is needed.
#pragma once

#include <ago/kernel/simd.hpp>

namespace ago::detail {

/// Cycles from asking for weights to using them. (Measured on Zen 5, whose hardware does not foresee them from L3:
/// whole networks gain alike with 400 to 1000, 9 to 28 %, and less with 200.)
inline constexpr long fetch_cycles = 700;

inline constexpr int line_floats = 16;  ///< of a cache line

/// Asks for FLOATS weights, as far behind `w` as those that are multiplied `fetch_cycles` later, at two multiply-adds a
/// cycle and MULTIPLY_ADDS for FLOATS weights. Nothing is read: beyond the last weight any address will do. Loops that
/// are scheduled by hand ask for nothing.
template <isa I, int FLOATS, int MULTIPLY_ADDS>
AGO_INLINE void fetch_ahead([[maybe_unused]] float const* w) {
  constexpr long ahead = fetch_cycles * 2 * FLOATS / MULTIPLY_ADDS;
  if constexpr (!is_scheduled_by_hand(I))
    _Pragma("GCC unroll 64") for (int f = 0; f < FLOATS; f += line_floats) __builtin_prefetch(w + ahead + f);
}

}  // namespace ago::detail
