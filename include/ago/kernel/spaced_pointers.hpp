// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equally spaced addresses in few registers.
#pragma once

#include <ago/kernel/simd.hpp>

namespace ago {

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

}  // namespace ago
