// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equally spaced addresses in few registers, and registers of equally spaced floats.
#pragma once

#include <ago/simd/simd.hpp>

namespace ago::simd {

/// COUNT equally spaced addresses. Every three share a base, from which they are 0, 1 and 2 distances away, which x86
/// addressing modes can express. Otherwise compilers compute all of them in advance, and spill them.
template <class T, int COUNT>
class spaced_pointers {
 public:
  /// `distance`: in elements.
  AGO_INLINE spaced_pointers(T* first, long distance) : distance_(distance) {
    AGO_UNROLL(32)
    for (int b = 0; b < bases; ++b) base_[b] = first + 3 * b * distance;
  }
  AGO_INLINE T* operator[](int k) const { return base_[k / 3] + k % 3 * distance_; }
  /// Advances all of them by `step` elements.
  AGO_INLINE void operator+=(long step) {
    AGO_UNROLL(32)
    for (int b = 0; b < bases; ++b) pin(base_[b] += step);
  }

 private:
  static constexpr int bases = (COUNT + 2) / 3;
  T* base_[bases];
  long distance_;
};

/// 0, 1, 2 ... in the lanes.
template <isa I>
struct lane_numbers {
  float at[lanes(I)];
  constexpr lane_numbers() : at{} {
    for (int i = 0; i < lanes(I); ++i) at[i] = float(i);
  }
  AGO_INLINE static vec<I> all() {
    static constexpr lane_numbers numbers;
    return vec<I>::load(numbers.at);
  }
};

/// p[0], p[STEP], p[2 * STEP] ... in the first COUNT lanes; the others are anything.
template <isa I, int COUNT, int STEP>
AGO_INLINE vec<I> load_spaced(float const* p) {
  if constexpr (instructions<I>::has_registers) return instructions<I>::template load_spaced<COUNT, STEP>(p);
  float all[lanes(I)]{};
  for (int i = 0; i < COUNT; ++i) all[i] = p[long(i) * STEP];
  return vec<I>::load(all);
}

}  // namespace ago::simd
