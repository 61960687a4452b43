// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pixels that a kernel reads into registers, to which it applies elementwise operators on the way.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/simd/register_run.hpp>

namespace ago::kernel {

/// Those of image n, from one channel on, VALID of a register; `Made`: the operators.
template <epilogue Made, isa I, int VALID>
class made_pixels {
 public:
  /// `s`: data of the operators. `from`: pixel 0 of all images, whose pixels are `step` floats apart.
  AGO_INLINE made_pixels(step_data const& s, kernel_memory const& m, float const* from, long step, int n, int channel)
      : finish_(s, m), from_(from + channel), step_(step), channel_(channel) {
    finish_.image(s, m, n);
  }
  /// Where a pixel, counted across images, is read.
  AGO_INLINE float const* address(long pixel) const { return from_ + pixel * step_; }
  AGO_INLINE vec<I> at(long pixel) const { return at(pixel, address(pixel)); }
  AGO_INLINE vec<I> at(long pixel, float const* address) const {
    return finish_(load_lanes<I>(address, VALID), pixel, channel_, VALID);
  }

 private:
  finisher<Made, I> finish_;
  float const* from_;
  long step_;
  int channel_;
};

}  // namespace ago::kernel
