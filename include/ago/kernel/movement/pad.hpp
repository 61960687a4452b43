// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pads images with rows, columns and channels of a constant.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/movement/strided_copy.hpp>

namespace ago::kernel {

/// Sets the pads of step_data::win to step_details::alpha and copies the rest; as step_details::loops says, if the
/// result has more channels than the source.
template <kernel_key K>
struct pad_kernel {
  static_assert(K.after.count() == 0, "pad takes no epilogue");
  static void run(step_data const& s, kernel_memory const& m) {
    step_details const& d = m.details(s);
    window const& w = s.win;
    long const source = s.source.pixel_stride, destination = s.destination.pixel_stride;
    float const* from = address(s.source, m);
    float* to = mutable_address(s.destination, m);
    if (s.in.c != s.out.c) {
      fill(s, d.alpha, to, s.out.pixels());
      return copy_strided<I>(d.loops, from, to);
    }
    for (int n = 0; n < s.out.n; ++n) {
      fill(s, d.alpha, to, long(w.pad_top) * s.out.w);
      to += long(w.pad_top) * s.out.w * destination;
      for (int y = 0; y < s.in.h; ++y) {
        fill(s, d.alpha, to, w.pad_left);
        copy(s, from, to + w.pad_left * destination);
        fill(s, d.alpha, to + (w.pad_left + s.in.w) * destination, w.pad_right);
        from += s.in.w * source;
        to += s.out.w * destination;
      }
      fill(s, d.alpha, to, long(w.pad_bottom) * s.out.w);
      to += long(w.pad_bottom) * s.out.w * destination;
    }
  }

 private:
  static constexpr isa I = K.target;

  AGO_INLINE static void fill_run(float x, float* to, long count) {
    constexpr int V = lanes(I);
    long i = 0;
    for (; i + V <= count; i += V) vec<I>(x).store(to + i);
    if (i == count) return;
    vec<I>(x).store(to + i, int(count - i));
  }
  [[gnu::noinline]] static void fill(step_data const& s, float x, float* to, long pixels) {
    long const c = s.out.c, stride = s.destination.pixel_stride;
    if (stride == c) return fill_run(x, to, pixels * c);
    for (long p = 0; p < pixels; ++p) fill_run(x, to + p * stride, c);
  }
  /// One row of the image.
  [[gnu::noinline]] static void copy(step_data const& s, float const* from, float* to) {
    long const c = s.out.c, source = s.source.pixel_stride, destination = s.destination.pixel_stride;
    if (source == c && destination == c) return copy_run<I>(from, to, s.in.w * c);
    for (long x = 0; x < s.in.w; ++x) copy_run<I>(from + x * source, to + x * destination, c);
  }
};

}  // namespace ago::kernel
