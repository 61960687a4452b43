// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of scattered input for matrix products that gather (kernel/matrix/gather_schedule.hpp).
#pragma once

#include <ago/kernel/tile.hpp>
#include <ago/simd/transpose.hpp>

namespace ago::kernel {

/// Copies `count` floats, a line at a time, and prefetches lines `next` floats ahead. Advances both addresses.
template <isa I>
AGO_INLINE void copy_floats(float const*& from, float*& to, int count, long next) {
  constexpr int registers = line_floats / lanes(I);
  AGO_UNROLL(1)
  for (; count >= line_floats; count -= line_floats) {
    vec<I> x[registers];
    fetch_line<I>(from + next);
    AGO_UNROLL(16)
    for (int r = 0; r < registers; ++r) x[r] = vec<I>::load(from + r * lanes(I));
    AGO_UNROLL(16)
    for (int r = 0; r < registers; ++r) x[r].store(to + r * lanes(I));
    from += line_floats;
    to += line_floats;
    pin(from);
    pin(to);
  }
  if (count > 0) fetch_line<I>(from + next);
  for (; count >= lanes(I); count -= lanes(I)) {
    vec<I>::load(from).store(to);
    from += lanes(I);
    to += lanes(I);
    pin(from);
    pin(to);
  }
  AGO_UNROLL(1)
  for (; count > 0; --count) *to++ = *from++;
}

/// Copies channels `portion` of `count` pixels of the source, from `first` on, one pixel after another to `to`; or if
/// transposed all channels of four pixels, one channel after another.
template <kernel_key K>
[[gnu::noinline]] void gather(step_data const& s, kernel_memory const& m, long first, long count,
                              index_range const& portion, float* to) {
  long const step = s.portion.last;
  auto const segment = [&](place const& at, int begin, int channels) AGO_INLINE_LAMBDA {
    int const skipped = portion.first > begin ? portion.first - begin : 0;
    int const end = begin + channels < portion.last ? channels : portion.last - begin;
    if (skipped >= end) return;
    float const* x = address(at, m) + first * at.pixel_stride + skipped;
    float* y = to + (begin + skipped - portion.first);
    if constexpr (K.transposed) {
      AGO_UNROLL(1)
      for (long p = 0; p < count; p += 4)
        transpose<K.target>(x + p * at.pixel_stride, at.pixel_stride, to + 4L * begin + p * step, 4, channels, 4);
      return;
    }
    long const gap = at.pixel_stride - (end - skipped), gap_to = step - (end - skipped);
    long const ahead = 3 * long(at.pixel_stride);
    AGO_UNROLL(1)
    for (long p = 0; p < count; ++p, x += gap, y += gap_to) copy_floats<K.target>(x, y, end - skipped, ahead);
  };
  if constexpr (K.in_runs) {
    int begin = 0;
    AGO_UNROLL(1)
    for (int r = 0; r < s.run_count; ++r) {
      input_run const& in = m.run(s, r);
      segment(in.at, begin, in.count);
      begin += in.count;
    }
  } else {
    segment(s.source, 0, s.in.c);
  }
}

}  // namespace ago::kernel
