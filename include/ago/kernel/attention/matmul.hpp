// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of two values: one product for each row of each image.
#pragma once

#include <ago/kernel/attention/product.hpp>
#include <ago/kernel/attention/vector_product.hpp>

namespace ago::kernel {

/// out[n, y, x, o] = epilogue(alpha * sum over c of in[n, y, x, c] * other[n, y, c, o]), or with K.transposed
/// other[n, y, o, c]. `other` may have one image or one row, which then serves all.
template <kernel_key K>
struct matmul_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    product_step<K> const step(s, m);
    step_details const& d = m.details(s);
    shape const& b = d.other_shape;
    // Packing a matrix takes longer than reading it once or twice.
    bool const in_place = long(s.in.w) * (b.n == 1 ? s.in.n : 1) * (b.h == 1 ? s.in.h : 1) <= 2;
    long packed = -1;  // the matrix of `other` that is packed
    for (int n = 0; n < s.in.n; ++n)
      for (int y = 0; y < s.in.h; ++y) {
        long const matrix = long(b.n == 1 ? 0 : n) * b.h + (b.h == 1 ? 0 : y);
        matrix_rows const other{address(d.other[0], m), d.other[0].pixel_stride, row_pixels::dense(matrix * b.w, b.w)};
        if (in_place) {
          multiply_in_place(step, s, m, n, y, other);
          continue;
        }
        if (matrix != packed) {
          if constexpr (K.transposed) pack_columns<K.target>(step.layout.first, other, step.first_operand());
          else pack_rows<K.target>(step.layout.first, other, step.first_operand());
          packed = matrix;
        }
        long const row = (long(n) * s.in.h + y) * s.in.w;
        matrix_rows const rows{address(s.source, m), s.source.pixel_stride, row_pixels::dense(row, s.in.w)};
        step.multiply(rows, d.alpha, [&](int first, int count) {
          for (int i = 0; i < count; ++i)
            step.finish(step.layout.first, step.first_results() + long(i) * step.layout.first.padded_columns(), 1.f,
                        row + first + i, 0);
        });
      }
  }

 private:
  static void multiply_in_place(product_step<K> const& step, step_data const& s, kernel_memory const& m, int n, int y,
                                matrix_rows const& other) {
    matrix_in_place const matrix{other.at(0), other.stride};
    float* const results = step.first_results();
    for (int x = 0; x < s.in.w; ++x) {
      long const pixel = (long(n) * s.in.h + y) * s.in.w + x;
      float const* const row = address(s.source, m) + pixel * s.source.pixel_stride;
      if constexpr (K.transposed) multiply_by_columns<K.target>(row, matrix, s.in.c, s.out.c, results);
      else multiply_by_rows<K.target>(row, matrix, s.in.c, s.out.c, results);
      step.finish(step.layout.first, results, m.details(s).alpha, pixel, 0);
    }
  }
};

}  // namespace ago::kernel
