// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value with a fold of its pixels, such as the sums of a batch norm: some pixels at a time are added up right after
// they have been computed, while they are in a cache (Apollo's memory stitching; the value itself stays, too).
#pragma once

#include <ago/kernel/row_pipeline.hpp>

namespace ago::kernel {

/// One operator, or several by rows, and then the nest that folds their result. Bit by bit, the value is what it is
/// without the nest; sums of pixels may be added in another order.
template <fused_key F>
class fold_pipeline {
  static constexpr int fold_part = F.parts - 1, value_part = F.parts - 2;
  using fold = kernel_of<F.part[fold_part]>;
  using value = kernel_of<F.part[value_part]>;

  /// Floats of the value that are folded at a time, or pipeline_rows rows if these are more: 64 KB, half of the L2 of
  /// small cores.
  static constexpr int block_floats = 1 << 14;

 public:
  /// `first`: data of the parts, one after another.
  static void run(step_data const& first, kernel_memory const& m) {
    step_data const *const parts = &first, &s = parts[value_part], &sums = parts[fold_part];
    if constexpr (computes_rows<value>) {
      for (int n = 0; n < s.out.n; ++n) image(parts, m, n);
      if constexpr (!fold::adds_pixels) fold::run(sums, m);
    } else if constexpr (value::has_pixels_in_order && fold::adds_pixels) {
      long const fit = block_floats / s.out.c, first_rows = pipeline_rows * s.out.w, end = s.out.pixels();
      long const block = fit > first_rows ? fit : first_rows;
      long done = 0;
      value::template run_with<fold::reads_several>(
          s, m, block, fold::operand_beside(address(s.destination, m), sums, m), [&](long there) {
            if (there - done < block && there < end) return;
            fold::pixels(sums, m, done, there);
            done = there;
          });
    } else {
      value::run(s, m);
      fold::run(sums, m);
    }
  }

 private:
  static void image(step_data const* parts, kernel_memory const& m, int n) {
    step_data const& s = parts[value_part];
    int const fit = block_floats / (s.out.w * s.out.c) / pipeline_rows * pipeline_rows;
    int const rows = fit > pipeline_rows ? fit : pipeline_rows, step = value_part > 0 ? pipeline_rows : rows;
    int done[F.parts - 1]{};
    for (int first = 0; first < s.out.h; first += rows) {
      int const end = first + rows < s.out.h ? first + rows : s.out.h;
      for (int y = first; y < end; y += step) advance<F, value_part>(parts, m, n, y + step, done);
      if constexpr (fold::adds_pixels) {
        long const row = long(n) * s.out.h;
        fold::pixels(parts[fold_part], m, (row + first) * s.out.w, (row + end) * s.out.w);
      }
    }
  }
};

}  // namespace ago::kernel
