// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between arrays with any strides: vectorises the innermost loops.
#pragma once

#include <ago/plan/strided_loops.hpp>
#include <ago/simd/transpose.hpp>

namespace ago::kernel {

/// Copies `count` consecutive floats.
template <isa I>
AGO_INLINE void copy_run(float const* from, float* to, long count) {
  constexpr int V = lanes(I);
  long i = 0;
  for (; i + V <= count; i += V) vec<I>::load(from + i).store(to + i);
  if (i == count) return;
  if (count > V) vec<I>::load(from + count - V).store(to + count - V);  // copies some floats twice
  else vec<I>::load(from, int(count)).store(to, int(count));
}

/// to[2 * i] = a[i], to[2 * i + 1] = b[i]
template <isa I>
void interleave(float const* a, float const* b, float* to, long count) {
  constexpr isa Q = isa_of_four(I);
  long i = 0;
  if constexpr (Q != isa::scalar)
    for (; i + 4 <= count; i += 4) {
      vec<Q> const x = vec<Q>::load(a + i), y = vec<Q>::load(b + i);
      zip_lo(x, y).store(to + 2 * i);
      zip_hi(x, y).store(to + 2 * i + 4);
    }
  for (; i < count; ++i) {
    to[2 * i] = a[i];
    to[2 * i + 1] = b[i];
  }
}

/// The copy that `l`, which is arranged, describes.
template <isa I>
[[gnu::noinline]] void copy_strided(strided_loops const& l, float const* from, float* to) {
  strided_loop const outer = l.loop[l.count - 2], inner = l.loop[l.count - 1];
  auto const inner_loops = [&](float const* p, float* q) {
    if (inner.destination == 1 && inner.source == 1) {
      for (long i = 0; i < outer.extent; ++i)
        copy_run<I>(p + i * outer.source, q + i * outer.destination, inner.extent);
    } else if (inner.destination != 1 || outer.source != 1) {
      for (long i = 0; i < outer.extent; ++i, p += outer.source, q += outer.destination)
        for (long j = 0; j < inner.extent; ++j) q[j * inner.destination] = p[j * inner.source];
    } else if (inner.extent == 2 && outer.destination == 2) {
      interleave<I>(p, p + inner.source, q, outer.extent);
    } else {
      transpose<I>(p, inner.source, q, outer.destination, outer.extent, inner.extent);
    }
  };
  from += l.from;
  to += l.to;
  long at[strided_loops::most]{};
  for (;;) {
    inner_loops(from, to);
    int k = l.count - 3;
    for (; k >= 0; --k) {
      strided_loop const& loop = l.loop[k];
      from += loop.source;
      to += loop.destination;
      if (++at[k] < loop.extent) break;
      at[k] = 0;
      from -= long(loop.extent) * loop.source;
      to -= long(loop.extent) * loop.destination;
    }
    if (k < 0) return;
  }
}

}  // namespace ago::kernel
