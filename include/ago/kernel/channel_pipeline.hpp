// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intensive fusion by channels: a chunk of channels passes through the whole chain before the next one is computed.
#pragma once

#include <ago/kernel/row_pipeline.hpp>

namespace ago::kernel {

template <class Kernel>
concept computes_images = requires(step_data const& s, kernel_memory const& m) { Kernel::image(s, m, 0); };

/// pointwise or convolution -> depthwise [-> pointwise], and every other chain whose middle is depthwise. The first
/// part reads all of its input for each chunk of its output channels. For a pointwise part after it, the chunk is a
/// part of K, which it adds to its result in the order of additions of the unfused kernel. With tiling::channels the
/// chunk holds whole images (AGO III.B: the pair tiled over o2), with tiling::channels_rows a ring buffer of rows.
template <fused_key F>
struct channel_pipeline {
  /// `first`: data of the parts, one after another.
  static void run(step_data const& first, kernel_memory const& m) {
    step_data const* const whole = &first;
    step_data parts[F.parts];
    for (int i = 0; i < F.parts; ++i) parts[i] = whole[i];
    int const chunk = first.destination.pixel_stride;
    int const last = first.channels.last > 0 ? first.channels.last : first.out.c;
    for (int n = 0; n < first.out.n; ++n)
      for (int channel = first.channels.first; channel < last; channel += chunk) {
        int const end = channel + chunk < last ? channel + chunk : last;
        select<0>(parts, whole, {channel, end});
        if constexpr (F.tiling == tiling::channels) images<0>(parts, m, n);
        else rolling_rows<F>(parts, m, n);
      }
  }

 private:
  /// Selects the chunk in parts P, P + 1, ... Kernels count channels from the start of the value, so the offset of a
  /// chunk points before its memory. (P is a constant because clang, at least 14 and 19, misreads F.part[i].)
  template <int P>
  AGO_INLINE static void select(step_data* parts, step_data const* whole, index_range const& chunk) {
    if constexpr (P < F.parts) {
      if constexpr (P > 0) parts[P].source.offset = whole[P].source.offset - chunk.first;
      if constexpr (P + 1 < F.parts) parts[P].destination.offset = whole[P].destination.offset - chunk.first;
      if constexpr (F.part[P].accumulates) parts[P].portion = chunk;
      else parts[P].channels = chunk;
      select<P + 1>(parts, whole, chunk);
    }
  }

  template <int P>
  AGO_INLINE static void images(step_data const* parts, kernel_memory const& m, int n) {
    if constexpr (P < F.parts) {
      if constexpr (computes_images<kernel_of<F.part[P]>>) kernel_of<F.part[P]>::image(parts[P], m, n);
      else compute_rows<F.part[P]>(parts[P], m, n, 0, parts[P].out.h);
      images<P + 1>(parts, m, n);
    }
  }
};

/// A chain of pointwise operators (matmul -> matmul) in runs of pixels; bit-identical to the unfused result.
template <fused_key F>
struct pixel_pipeline {
  static void run(step_data const& first, kernel_memory const& m) {
    long const pixels = first.out.pixels(), length = first.destination.ring;
    for (long begin = 0; begin < pixels; begin += length)
      parts<0>(&first, m, begin, begin + length < pixels ? begin + length : pixels);
  }

 private:
  template <int P>
  AGO_INLINE static void parts(step_data const* s, kernel_memory const& m, long begin, long end) {
    if constexpr (P < F.parts) {
      pointwise_kernel<F.part[P]>::run_of(s[P], m, begin, end);
      parts<P + 1>(s, m, begin, end);
    }
  }
};

}  // namespace ago::kernel
