// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between arrays with any strides: merges loops over contiguous memory, and vectorises the innermost ones.
#pragma once

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

/// One loop of a copy: its extent, and the floats by which source and destination advance in each iteration.
struct copy_loop {
  long extent = 1, source = 0, destination = 0;
};

/// to[sum of i_k * destination_k] = from[sum of i_k * source_k] for all 0 <= i_k < extent_k, over at most six loops in
/// any order. Strides may be negative. Source and destination share no float.
template <isa I>
class strided_copy {
 public:
  void add(long extent, long source, long destination) {
    if (extent == 1) return;
    int k = count_++;
    for (; k > 0 && size(loops_[k - 1].destination) < size(destination); --k) loops_[k] = loops_[k - 1];
    loops_[k] = {extent, source, destination};
  }

  [[gnu::noinline]] void run(float const* from, float* to) {
    join();
    while (count_ < 2) insert_front({});
    copy_loop const inner = loops_[count_ - 1];
    int const contiguous = inner.destination == 1 ? loop_of_source_stride_1() : -1;
    if (contiguous >= 0 && inner.source != 1) move_to_inner(contiguous);
    copy_loop const outer = loops_[count_ - 2];
    if (contiguous < 0) {
      for_each_outer(from, to, [&](float const* p, float* q) { strided(outer, inner, p, q); });
    } else if (inner.source == 1) {
      for_each_outer(from, to, [&](float const* p, float* q) {
        for (long i = 0; i < outer.extent; ++i)
          copy_run<I>(p + i * outer.source, q + i * outer.destination, inner.extent);
      });
    } else if (inner.extent == 2 && outer.destination == 2) {
      for_each_outer(from, to, [&](float const* p, float* q) { interleave<I>(p, p + inner.source, q, outer.extent); });
    } else {
      for_each_outer(from, to, [&](float const* p, float* q) {
        transpose<I>(p, inner.source, q, outer.destination, outer.extent, inner.extent);
      });
    }
  }

 private:
  static long size(long stride) { return stride < 0 ? -stride : stride; }

  /// Merges a loop with the next inner one if its steps continue where those of the inner loop end.
  void join() {
    for (int k = count_ - 1; k > 0; --k) {
      copy_loop const inner = loops_[k];
      copy_loop& outer = loops_[k - 1];
      if (outer.source != inner.extent * inner.source || outer.destination != inner.extent * inner.destination)
        continue;
      outer = {outer.extent * inner.extent, inner.source, inner.destination};
      --count_;
      for (int j = k; j < count_; ++j) loops_[j] = loops_[j + 1];
    }
  }
  void insert_front(copy_loop const& loop) {
    for (int k = count_++; k > 0; --k) loops_[k] = loops_[k - 1];
    loops_[0] = loop;
  }
  /// Moves loop k to the last position but one.
  void move_to_inner(int k) {
    copy_loop const loop = loops_[k];
    for (; k < count_ - 2; ++k) loops_[k] = loops_[k + 1];
    loops_[k] = loop;
  }
  int loop_of_source_stride_1() const {
    for (int k = 0; k < count_; ++k)
      if (loops_[k].source == 1) return k;
    return -1;
  }

  /// Calls f for every iteration of all loops but the last two.
  template <class F>
  AGO_INLINE void for_each_outer(float const* from, float* to, F f) const {
    long at[max_loops]{};
    for (;;) {
      f(from, to);
      int k = count_ - 3;
      for (; k >= 0; --k) {
        copy_loop const& loop = loops_[k];
        from += loop.source;
        to += loop.destination;
        if (++at[k] < loop.extent) break;
        at[k] = 0;
        from -= loop.extent * loop.source;
        to -= loop.extent * loop.destination;
      }
      if (k < 0) return;
    }
  }

  static void strided(copy_loop const& outer, copy_loop const& inner, float const* from, float* to) {
    for (long i = 0; i < outer.extent; ++i, from += outer.source, to += outer.destination)
      for (long j = 0; j < inner.extent; ++j) to[j * inner.destination] = from[j * inner.source];
  }

  static constexpr int max_loops = 6;
  copy_loop loops_[max_loops]{};  ///< from large to small strides of the destination
  int count_ = 0;
};

}  // namespace ago::kernel
