// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefetching weights, and cache lines of results.
#pragma once

#include <ago/simd/simd.hpp>

#include <cstdint>

namespace ago::simd {

/// Cycles between prefetching weights and using them. (Measured on Zen 5, whose hardware does not prefetch them from
/// L3: whole networks gain 9 to 28 % with any distance from 400 to 1000, and less with 200.)
inline constexpr long fetch_cycles = 700;

inline constexpr int line_floats = 16;    ///< of a cache line
inline constexpr int page_floats = 1024;  ///< of a page of memory

/// Prefetches FLOATS weights at the distance from `w` that is reached `fetch_cycles` later, at two multiply-adds a
/// cycle and MULTIPLY_ADDS for FLOATS weights. Nothing is read, so the address may be beyond the last weight. Loops
/// that are scheduled by hand prefetch nothing.
template <isa I, int FLOATS, int MULTIPLY_ADDS>
AGO_INLINE void fetch_ahead([[maybe_unused]] float const* w) {
  constexpr long ahead = fetch_cycles * 2 * FLOATS / MULTIPLY_ADDS;
  if constexpr (!is_scheduled_by_hand(I)) {
    AGO_UNROLL(64)
    for (int f = 0; f < FLOATS; f += line_floats) __builtin_prefetch(w + ahead + f);
  }
}

/// Prefetches the line that comes a page after `p`, where more than L2 has room for is read from end to end: hardware
/// does not follow loads under a mask, nor runs of a few lines with other work between them. (Measured on Zen 5 with
/// operands of 15 to 38 MB: sums of products with a masked factor take 0.37 of the time, steps that begin with
/// elementwise operators 0.8; 3 and 6 KB ahead gain as much, 1 and 8 KB less.) `EXCEEDS_L3`: from memory,
/// which takes longer, 6 KB ahead and into L2. (Measured on Zen 4, with operands of 10 to 38 MB: nests take 0.75 to
/// 0.85 of the time of 4 KB and L1, pointwise convolutions after elementwise operators 0.8; 8 KB gains as much, 4 KB
/// half.) Nothing is read, so the address may be beyond the end.
template <isa I, bool EXCEEDS_L3 = false>
AGO_INLINE void fetch_page([[maybe_unused]] float const* p) {
  if constexpr (is_scheduled_by_hand(I)) return;
  else if constexpr (EXCEEDS_L3) __builtin_prefetch(p + page_floats * 3 / 2, 0, 2);
  else __builtin_prefetch(p + page_floats);
}

/// Do registers as long as a line of cache cross lines, if they are stored from `to` on and in steps of `step` floats?
/// Then each of them waits for its second line, for which the core does not ask before (measured on a Xeon, depthwise
/// 3x3 with 116 channels at 14x14: 1.5 times as long as with these lines prefetched).
template <isa I>
AGO_INLINE bool stores_cross_lines(float const* to, long step) {
  return lanes(I) == line_floats &&
         (reinterpret_cast<std::uintptr_t>(to) / 4 | std::uintptr_t(step)) % line_floats != 0;
}
/// Prefetches the lines in which such registers end, COUNT of them.
template <isa I, int COUNT>
AGO_INLINE void fetch_ends([[maybe_unused]] float const* to, [[maybe_unused]] long step) {
  if constexpr (lanes(I) == line_floats) {
    AGO_UNROLL(32)
    for (int i = 0; i < COUNT; ++i, to += step) __builtin_prefetch(to + lanes(I) - 1, 1);
  }
}

}  // namespace ago::simd
