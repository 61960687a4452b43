// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The taps of a window that are inside the image.
#pragma once

#include <ago/simd/simd.hpp>

namespace ago::kernel {

/// Taps first ... last - 1 of a window; none if first == last.
struct tap_range {
  int first, last;
  bool operator==(tap_range const&) const = default;
  AGO_INLINE int count() const { return last - first; }
};

/// Taps t of 0 ... taps - 1 with 0 <= start + t * dilation < extent.
AGO_INLINE tap_range taps_inside(int start, int dilation, int taps, int extent) {
  int const first = start < 0 ? (dilation - 1 - start) / dilation : 0;
  int const beyond = start < extent ? (extent - start + dilation - 1) / dilation : 0;
  int const last = beyond < taps ? beyond : taps;
  return first < last ? tap_range{first, last} : tap_range{0, 0};
}

}  // namespace ago::kernel
