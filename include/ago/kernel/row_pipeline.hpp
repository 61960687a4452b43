// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intensive fusion by rows: each operator computes a few rows just before the next one reads them.
#pragma once

#include <ago/kernel/depthwise/kernel.hpp>
#include <ago/kernel/elementwise/kernel.hpp>
#include <ago/kernel/matrix/convolution.hpp>
#include <ago/kernel/matrix/pointwise.hpp>
#include <ago/kernel/pool/max_pool.hpp>
#include <ago/kernel/units.hpp>

namespace ago::kernel {

template <class Kernel>
concept computes_rows = requires(step_data const& s, kernel_memory const& m) { Kernel::rows(s, m, 0, 0, 1); };

template <kernel_key K>
AGO_INLINE void compute_rows(step_data const& s, kernel_memory const& m, int n, int first, int last) {
  static_assert(computes_rows<kernel_of<K>>, "no kernel of this structure computes rows for a pipeline");
  kernel_of<K>::rows(s, m, n, first, last);
}

/// Rows of a kernel's register tiles.
template <class Kernel>
inline constexpr int rows_at_once = 1;
template <class Kernel>
  requires(Kernel::rows_at_once > 0)
inline constexpr int rows_at_once<Kernel> = Kernel::rows_at_once;

/// Does each row of the result need a single one of the input, whatever the step?
template <class Kernel>
concept reads_row_by_row = requires { requires Kernel::reads_row_by_row; };

/// Does part P have register tiles of two rows, and a reader that may request an odd number of rows?
template <fused_key F, int P>
constexpr bool computes_by_twos() {
  if constexpr (P + 1 == F.parts) return false;
  else return rows_at_once<kernel_of<F.part[P]>> == 2 && !reads_row_by_row<kernel_of<F.part[P + 1]>>;
}

/// Computes the missing rows of part P before row `end`, after the rows that they read.
template <fused_key F, int P>
AGO_INLINE void advance(step_data const* parts, kernel_memory const& m, int n, int end, int* done) {
  step_data const& s = parts[P];
  if constexpr (computes_by_twos<F, P>())
    if (!parts[P + 1].win.goes_row_by_row()) end += (end - done[P]) % 2;  // the ring buffer has room for one more
  if (end > s.out.h) end = s.out.h;
  if (end <= done[P]) return;
  if constexpr (P > 0)
    advance<F, P - 1>(parts, m, n, (end - 1) * s.win.stride_h - s.win.pad_top + s.win.span_h(), done);
  compute_rows<F.part[P]>(s, m, n, done[P], end);
  done[P] = end;
}

/// Computes image n, a few rows of the last part at a time.
template <fused_key F>
AGO_INLINE void rolling_rows(step_data const* parts, kernel_memory const& m, int n) {
  int done[F.parts]{};
  for (int y = 0; y < parts[F.parts - 1].out.h; y += pipeline_rows)
    advance<F, F.parts - 1>(parts, m, n, y + pipeline_rows, done);
}

/// pointwise or convolution -> depthwise [-> pointwise], and every other chain of these, in which pooling over windows
/// can replace depthwise. A whole inverted residual runs with its intermediate values in ring buffers of a few rows.
/// Every row of every part is computed once, by the unfused kernel and in its order of additions, so the result is
/// bit-identical to the unfused one. (AGO III.B tiles a pair; ring buffers, like the line buffers of image processing,
/// extend this to chains.)
template <fused_key F>
struct row_pipeline {
  /// `first`: data of the parts, one after another.
  static void run(step_data const& first, kernel_memory const& m) {
    for (int n = 0; n < first.out.n; ++n) rolling_rows<F>(&first, m, n);
  }
};

}  // namespace ago::kernel
