// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion between the user's channels-first (NCHW) memory and the internal channels-last (NHWC) memory.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/simd/transpose.hpp>

namespace ago::kernel {

/// Source: channels-first memory without gaps; destination: channels-last.
template <kernel_key K>
struct from_nchw_kernel {
  static_assert(K.after.count() == 0, "from_nchw takes no epilogue");
  static void run(step_data const& s, kernel_memory const& m) {
    long const pixels = long(s.out.h) * s.out.w, stride = s.destination.pixel_stride;
    for (int n = 0; n < s.out.n; ++n)
      simd::transpose<K.target>(address(s.source, m) + n * pixels * s.out.c, pixels,
                                mutable_address(s.destination, m) + n * pixels * stride, stride, pixels, s.out.c);
  }
};

/// Source: channels-last; destination: channels-first memory without gaps.
template <kernel_key K>
struct to_nchw_kernel {
  static_assert(K.after.count() == 0, "to_nchw takes no epilogue");
  static void run(step_data const& s, kernel_memory const& m) {
    long const pixels = long(s.out.h) * s.out.w, stride = s.source.pixel_stride;
    for (int n = 0; n < s.out.n; ++n)
      simd::transpose<K.target>(address(s.source, m) + n * pixels * stride, stride,
                                mutable_address(s.destination, m) + n * pixels * s.out.c, pixels, s.out.c, pixels);
  }
};

}  // namespace ago::kernel
