// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposes matrices in memory, in blocks of 4 rows and of as many columns as a register has lanes, or of 4x4 floats.
#pragma once

#include <ago/simd/simd.hpp>

namespace ago::simd {

/// The instruction set of a register of four floats, with which 4x4 blocks are transposed on every target: this
/// machine's, where weights are packed for another one.
constexpr isa isa_of_four(isa target) { return of_four(available(target) ? target : native_isa); }

/// Transposes a 4x4 block, and as many as there are fours of lanes.
template <isa I>
AGO_INLINE void transpose(vec<I> (&x)[4]) {
  vec<I> const even_lo = zip_lo(x[0], x[2]), even_hi = zip_hi(x[0], x[2]);
  vec<I> const odd_lo = zip_lo(x[1], x[3]), odd_hi = zip_hi(x[1], x[3]);
  x[0] = zip_lo(even_lo, odd_lo);
  x[1] = zip_hi(even_lo, odd_lo);
  x[2] = zip_lo(even_hi, odd_hi);
  x[3] = zip_hi(even_hi, odd_hi);
}

/// to[i * to_stride + j] = from[j * from_stride + i] for i < rows, j < columns, 0 < rows, columns <= 4.
/// With `Whole`, rows == columns == 4.
template <isa I, bool Whole>
AGO_INLINE void transpose_block(float const* from, long from_stride, float* to, long to_stride, int rows, int columns) {
  vec<I> x[4];
  AGO_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    if (Whole || (j < columns && rows == 4)) x[j] = vec<I>::load(from + j * from_stride);
    else x[j] = j < columns ? vec<I>::load(from + j * from_stride, rows) : vec<I>(0.f);
  }
  transpose(x);
  AGO_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    if (Whole || (i < rows && columns == 4)) x[i].store(to + i * to_stride);
    else if (i < rows) x[i].store(to + i * to_stride, columns);
  }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for i < rows, of which there are a multiple of four, and
/// j < lanes(I), which fill a register.
template <isa I>
AGO_INLINE void transpose_to_registers(float const* from, long from_stride, float* to, long to_stride, long rows) {
  AGO_UNROLL(1)
  for (long i = 0; i < rows; i += 4, from += 4) {
    vec<I> x[4];
    AGO_UNROLL(4)
    for (int j = 0; j < 4; ++j) x[j] = vec<I>::load_fours(from + j * from_stride, 4 * from_stride);
    transpose(x);
    AGO_UNROLL(4)
    for (int r = 0; r < 4; ++r, to += to_stride) x[r].store(to);
  }
}

/// Likewise, for rows that are a multiple of lanes(I). Reads whole registers, into a copy from which they are
/// transposed: lines that are a multiple of 4 KB apart are all in one set of an L1, and do not stay there for four
/// reads.
template <isa I>
AGO_INLINE void transpose_lines(float const* from, long from_stride, float* to, long to_stride, long rows) {
  constexpr int V = lanes(I);
  float lines[V * V];
  AGO_UNROLL(1)
  for (long i = 0; i < rows; i += V) {
    AGO_UNROLL(16)
    for (int j = 0; j < V; ++j) vec<I>::load(from + j * from_stride + i).store(lines + j * V);
    transpose_to_registers<I>(lines, V, to + i * to_stride, to_stride, V);
  }
}

/// Likewise, for any rows and columns, in blocks of 4x4. Processes strips of 64 rows of `to`, so that their cache lines
/// stay in the cache until they are complete.
template <isa I>
void transpose_in_blocks(float const* from, long from_stride, float* to, long to_stride, long rows, long columns) {
  constexpr isa Q = isa_of_four(I);
  for (long i0 = 0; i0 < rows; i0 += 64) {
    long const i1 = i0 + 64 < rows ? i0 + 64 : rows;
    for (long j = 0; j < columns; j += 4) {
      int const width = columns - j < 4 ? int(columns - j) : 4;
      float const* const p = from + j * from_stride;
      float* const q = to + j;
      long i = i0;
      if (width == 4)
        for (; i + 4 <= i1; i += 4) transpose_block<Q, true>(p + i, from_stride, q + i * to_stride, to_stride, 4, 4);
      if (width == 3)
        for (; i + 4 <= i1; i += 4) transpose_block<Q, false>(p + i, from_stride, q + i * to_stride, to_stride, 4, 3);
      for (; i < i1; i += 4)
        transpose_block<Q, false>(p + i, from_stride, q + i * to_stride, to_stride, i1 - i < 4 ? int(i1 - i) : 4,
                                  width);
    }
  }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for i < rows, j < columns.
template <isa I>
void transpose(float const* from, long from_stride, float* to, long to_stride, long rows, long columns) {
  if constexpr (isa_of_four(I) == isa::scalar) {
    for (long i = 0; i < rows; ++i)
      for (long j = 0; j < columns; ++j) to[i * to_stride + j] = from[j * from_stride + i];
  } else {
    if constexpr (lanes(I) > 4 && available(I)) {  // what is packed for another machine is transposed by fours
      bool const compete = from_stride % 1024 == 0;
      int const unit = compete ? lanes(I) : 4;
      long const whole = rows / unit * unit, full = whole > 0 ? columns / lanes(I) * lanes(I) : 0;
      for (long j = 0; j < full; j += lanes(I)) {
        if (compete) transpose_lines<I>(from + j * from_stride, from_stride, to + j, to_stride, whole);
        else transpose_to_registers<I>(from + j * from_stride, from_stride, to + j, to_stride, whole);
      }
      if (whole < rows)
        transpose_in_blocks<I>(from + whole, from_stride, to + whole * to_stride, to_stride, rows - whole, full);
      from += full * from_stride;
      to += full;
      columns -= full;
    }
    transpose_in_blocks<I>(from, from_stride, to, to_stride, rows, columns);
  }
}

}  // namespace ago::simd
