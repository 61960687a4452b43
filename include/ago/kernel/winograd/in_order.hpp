// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transform of products of F(4x4, 3x3), scheduled by hand.
#pragma once

#include <ago/kernel/winograd/transform.hpp>
#include <ago/simd/in_order.hpp>

#include <utility>

namespace ago::kernel {

/// What is loaded of a register in halves.
enum class half_part { low, high, join };

/// Computes the same as transform_products<4>, with the same additions in the same order. All of the first half of the
/// transform stays in registers, so that every product is loaded once, while the column before is transformed; if
/// HALVES, in halves that issue beside the arithmetic. If LENGTHY, outputs are finished at a single place in the code.
template <isa I, bool HALVES, bool LENGTHY>
class product_transform_4 {
  using scheme = winograd_scheme<4>;
  static constexpr int n = scheme::patch, tile = 4;

 public:
  /// The product of point y * 6 + x is at from + (y * 6 + x) * stride.
  AGO_INLINE product_transform_4(float const* from, long stride)
      : stride_(stride), step_(stride * long(sizeof(float))) {
    AGO_UNROLL(8)
    for (int y = 0; y < n; ++y, from += n * stride) {
      row_[y] = from;
      pin(row_[y]);
    }
    constexpr float a = float(scheme::a), b = float(scheme::b);
    static constexpr float factors[8] = {
        a, b, float(scheme::a2), float(scheme::b2), float(scheme::a2 * scheme::a), float(scheme::b2 * scheme::b)};
    float const* first = factors;
    pin(first);
    load_vector<0>(low_, first);
    load_vector<1>(high_, first);
  }

  /// Prefetches the products that are AHEAD floats after those that are next.
  template <int AHEAD>
  AGO_INLINE void fetch() const {
    AGO_UNROLL(8)
    for (int y = 0; y < n; ++y) {
      float const* line = row_[y] + AHEAD;
      AGO_UNROLL(8)
      for (int x = 0; x < n; ++x, line += stride_) {
        pin(line);
        fetch_line<I>(line);
      }
    }
  }

  /// Transforms one register of channels, and advances to the next one. Calls finish(y, x, output) for outputs in the
  /// first `rows` rows and `columns` columns.
  template <class Finish>
  AGO_INLINE void operator()(int rows, int columns, Finish finish) {
    vec<I> line[tile][n], m[2][n];
    long at = 0;
    AGO_UNROLL(8)
    for (int y = 0; y < n; ++y) load_input<lanes(I)>(m[0][y], row_[y], at);
    [&]<int... X>(std::integer_sequence<int, X...>) AGO_INLINE_LAMBDA {
      (column<X>(m[X % 2], m[(X + 1) % 2], line, at), ...);
    }(std::make_integer_sequence<int, n>{});
    AGO_UNROLL(8)
    for (int y = 0; y < n; ++y) {
      row_[y] += lanes(I);
      pin(row_[y]);
    }
    if (!LENGTHY && rows >= tile && columns >= tile) finish_rows<true>(line, rows, columns, finish);
    else finish_rows<false>(line, rows, columns, finish);
  }

 private:
  struct next_column {
    product_transform_4 const& of;
    vec<I> (&m)[n];
    long at;
    upper_half upper[n];

    template <int Y, half_part P>
    AGO_INLINE void load() {
      if constexpr (!HALVES) {
        if constexpr (P == half_part::low) load_input<lanes(I)>(m[Y], of.row_[Y], at);
      } else if constexpr (P == half_part::low) {
        load_input<2>(m[Y], of.row_[Y], at);
      } else if constexpr (P == half_part::high) {
        load_input_high<I>(upper[Y], of.row_[Y], at);
      } else {
        simd::join(m[Y], upper[Y]);
      }
    }
    /// What issues after operation SLOT of combine(): one beside it, and two in a cycle of their own.
    template <int SLOT>
    AGO_INLINE void operator()() {
      using enum half_part;
      if constexpr (SLOT == 0) load<0, high>();
      else if constexpr (SLOT == 1) load<0, low>();
      else if constexpr (SLOT == 2) load<1, high>();
      else if constexpr (SLOT == 3) load<1, low>();
      else if constexpr (SLOT == 4) load<2, high>(), load<0, half_part::join>(), load<2, low>();
      else if constexpr (SLOT == 5) load<3, high>();
      else if constexpr (SLOT == 6) load<3, low>();
      else if constexpr (SLOT == 7) load<4, high>(), load<1, join>(), load<4, low>();
      else if constexpr (SLOT == 8) load<5, high>();
      else if constexpr (SLOT == 9) load<5, low>(), load<2, join>(), load<3, join>();
      else if constexpr (SLOT == 10) load<4, join>();
      else load<5, join>();
    }
  };
  struct nothing {
    template <int>
    AGO_INLINE void operator()() {}
  };

  /// One axis: A^T m, see winograd_scheme<4>::output, with what issues beside each operation.
  template <class Beside>
  AGO_INLINE void combine(vec<I> (&m)[n], vec<I>& r0, vec<I>& r1, vec<I>& r2, vec<I>& r3, Beside&& beside) const {
    vec<I> at_a, at_b;
    add(at_a, m[1], m[2]), beside.template operator()<0>();
    subtract(m[1], m[1], m[2]), beside.template operator()<1>();
    add(at_b, m[3], m[4]), beside.template operator()<2>();
    subtract(m[3], m[3], m[4]), beside.template operator()<3>();
    add(r0, m[0], at_a), beside.template operator()<4>();
    multiply_by_lane<3>(r2, at_b, low_), beside.template operator()<5>();
    multiply_by_lane<1>(r1, m[3], low_), beside.template operator()<6>();
    multiply_lane<1>(m[5], m[3], high_), beside.template operator()<7>();
    add(r0, r0, at_b), beside.template operator()<8>();
    multiply_lane<2>(r2, at_a, low_), beside.template operator()<9>();
    multiply_lane<0>(r1, m[1], low_), beside.template operator()<10>();
    multiply_lane<0>(m[5], m[1], high_), beside.template operator()<11>();
    r3 = m[5];
  }

  template <int X>
  AGO_INLINE void column(vec<I> (&m)[n], vec<I> (&next)[n], vec<I> (&line)[tile][n], long& at) const {
    at += step_;
    pin(at);
    auto const transform = [&](auto&& beside) AGO_INLINE_LAMBDA {
      combine(m, line[0][X], line[1][X], line[2][X], line[3][X], beside);
    };
    if constexpr (X + 1 < n) transform(next_column{*this, next, at, {}});
    else transform(nothing{});
  }

  template <bool FULL, class Finish>
  AGO_INLINE void finish_rows(vec<I> (&line)[tile][n], int rows, int columns, Finish finish) const {
    [[maybe_unused]] vec<I> outputs[LENGTHY ? tile : 1][tile];
    AGO_UNROLL(4)
    for (int y = 0; y < tile; ++y) {
      vec<I> r[tile];
      combine(line[y], r[0], r[1], r[2], r[3], nothing{});
      if (!FULL && !LENGTHY && y >= rows) return;
      AGO_UNROLL(4)
      for (int x = 0; x < tile; ++x) {
        if constexpr (LENGTHY) outputs[y][x] = r[x];
        else if (FULL || x < columns) finish(y, x, r[x]);
      }
    }
    if constexpr (LENGTHY) {
      int const y_end = rows < tile ? rows : tile, x_end = columns < tile ? columns : tile;
      AGO_UNROLL(1)
      for (int y = 0; y < y_end; ++y) {
        AGO_UNROLL(1)
        for (int x = 0; x < x_end; ++x) finish(y, x, outputs[y][x]);
      }
    }
  }

  float const* row_[n];
  long stride_, step_;  ///< between points, in floats and in bytes
  vec<I> low_, high_;   ///< a, b, a^2, b^2; a^3, b^3
};

}  // namespace ago::kernel
