// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution of small images by im2col: the windows are copied into rows, and multiplied by the weights as one matrix.
#pragma once

#include <ago/kernel/matrix/pointwise.hpp>

#include <cstring>

namespace ago::kernel {

/// Writes the window of every output pixel to to[pixel][ky][kx][channel], with zeros outside the image.
template <isa I>
[[gnu::noinline]] void copy_windows(step_data const& s, float const* source, float* to) {
  window const& w = s.win;
  long const pixel = s.source.pixel_stride;
  std::size_t const bytes = std::size_t(s.in.c) * sizeof(float);
  for (int n = 0; n < s.out.n; ++n)
    for (int y = 0; y < s.out.h; ++y)
      for (int x = 0; x < s.out.w; ++x)
        for (int ky = 0; ky < w.kernel_h; ++ky)
          for (int kx = 0; kx < w.kernel_w; ++kx, to += s.in.c) {
            int const row = y * w.stride_h - w.pad_top + ky * w.dilation_h;
            int const column = x * w.stride_w - w.pad_left + kx * w.dilation_w;
            bool const inside = row >= 0 && row < s.in.h && column >= 0 && column < s.in.w;
            if (inside) std::memcpy(to, source + ((long(n) * s.in.h + row) * s.in.w + column) * pixel, bytes);
            else std::memset(to, 0, bytes);
          }
}

/// Bit-identical to convolution_kernel, without groups: products with zeros change no sum. Reads the weights, in
/// matrix_layout, once and sequentially; the direct convolution reads them for every rectangle of pixels that see the
/// same taps. Scratch: out.pixels() windows. Expects tile.pixels_left == out.pixels() % tile.pixels.
template <kernel_key K>
struct im2col_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    copy_windows<K.target>(s, address(s.source, m), m.arena + s.scratch);
    step_data product = s;
    product.in = s.out;
    product.in.c = matrix_depth(s);
    product.win = {};
    product.source = {place::area::arena, 0, s.scratch, product.in.c};
    pointwise_kernel<K>::run(product, m);
  }
};

}  // namespace ago::kernel
