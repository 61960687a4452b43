// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The channels of one pixel, through the epilogue into memory.
#pragma once

#include <ago/kernel/epilogue.hpp>

namespace ago::detail {

/// Writes the channels of one pixel: f(c, count...) gives those from c on, `count` of them if they fill no register.
template <kernel_key K, class F>
AGO_INLINE void write_pixel(finisher<K.after, K.target> const& finish, float* out, long pixel, int channels, F f) {
  constexpr int V = lanes(K.target);
  int c = 0;
  for (; c + V <= channels; c += V) finish(f(c), pixel, c).store(out + c);
  if constexpr (K.partial) {
    int const left = channels - c;
    if (left > 0) finish(f(c, left), pixel, c, left).store(out + c, left);
  }
}

}  // namespace ago::detail
