// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of one row and a matrix that is read where it is: packing takes longer than one pass over it.
#pragma once

#include <ago/simd/reduce.hpp>
#include <ago/simd/register_run.hpp>

namespace ago::kernel {

/// A matrix in place: element (t, c) is at(t)[c].
struct matrix_in_place {
  float const* first;
  long stride;
  AGO_INLINE float const* at(int t) const { return first + t * stride; }
};

/// to[t] = sum over k < depth of x[k] * matrix.at(t)[k], for t < count.
template <isa I>
[[gnu::noinline]] void multiply_by_columns(float const* x, matrix_in_place matrix, int depth, int count, float* to) {
  constexpr int together = 4, V = lanes(I);
  auto const some = [&]<int MANY>(int first) AGO_INLINE_LAMBDA {
    float const* column[MANY];
    vec<I> sum[MANY];
    AGO_UNROLL(4)
    for (int i = 0; i < MANY; ++i) {
      column[i] = matrix.at(first + i);
      sum[i] = vec<I>(0.f);
    }
    int k = 0;
    for (; k + V <= depth; k += V) {
      vec<I> const now = vec<I>::load(x + k);
      AGO_UNROLL(4)
      for (int i = 0; i < MANY; ++i) { sum[i] = fma(now, vec<I>::load(column[i] + k), sum[i]); }
    }
    if (k < depth) {
      vec<I> const now = vec<I>::load(x + k, depth - k);
      AGO_UNROLL(4)
      for (int i = 0; i < MANY; ++i) { sum[i] = fma(now, vec<I>::load(column[i] + k, depth - k), sum[i]); }
    }
    AGO_UNROLL(4)
    for (int i = 0; i < MANY; ++i) { to[first + i] = sum_of_lanes(sum[i]); }
  };
  int t = 0;
  for (; t + together <= count; t += together) some.template operator()<together>(t);
  for (; t < count; ++t) some.template operator()<1>(t);
}

/// to[c] = sum over k < depth of x[k] * matrix.at(k)[c], for c < count.
template <isa I>
[[gnu::noinline]] void multiply_by_rows(float const* x, matrix_in_place matrix, int depth, int count, float* to) {
  constexpr int V = lanes(I), together = V == 1 ? 1 : 8;
  int c = 0;
  for (; c + together * V <= count; c += together * V) {
    vec<I> sum[together];
    AGO_UNROLL(8)
    for (int i = 0; i < together; ++i) { sum[i] = vec<I>(0.f); }
    for (int k = 0; k < depth; ++k) {
      float const* const row = matrix.at(k) + c;
      AGO_UNROLL(8)
      for (int i = 0; i < together; ++i) { sum[i] = fma(vec<I>(x[k]), vec<I>::load(row + i * V), sum[i]); }
    }
    AGO_UNROLL(8)
    for (int i = 0; i < together; ++i) { sum[i].store(to + c + i * V); }
  }
  for (; c < count; c += V) {
    int const valid = count - c < V ? count - c : V;
    vec<I> sum(0.f);
    for (int k = 0; k < depth; ++k) sum = fma(vec<I>(x[k]), load_lanes<I>(matrix.at(k) + c, valid), sum);
    store_lanes(sum, to + c, valid);
  }
}

}  // namespace ago::kernel
