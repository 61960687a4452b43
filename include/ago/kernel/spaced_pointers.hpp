// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many addresses at equal distances, in few registers.
#pragma once

#include <ago/kernel/simd.hpp>

namespace ago {

/// COUNT addresses: a base for three each, from which they are 0, 1 and 2 distances away, as addresses of x86
/// instructions can have it. Left to itself the compiler computes all of them in advance, and spills them.
template <class T, int COUNT>
class spaced_pointers {
 public:
  /// `distance`: in elements.
  AGO_INLINE spaced_pointers(T* first, long distance) : distance_(distance) {
    _Pragma("GCC unroll 32") for (int b = 0; b < bases; ++b) base_[b] = first + 3 * b * distance;
  }
  AGO_INLINE T* operator[](int k) const { return base_[k / 3] + k % 3 * distance_; }
  /// Moves all of them on by `step` elements.
  AGO_INLINE void operator+=(long step) {
    _Pragma("GCC unroll 32") for (int b = 0; b < bases; ++b) pin(base_[b] += step);
  }

 private:
  static constexpr int bases = (COUNT + 2) / 3;
  T* base_[bases];
  long distance_;
};

}  // namespace ago
