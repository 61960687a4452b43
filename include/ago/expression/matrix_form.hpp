// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of two elements as matrix products whose rows and columns are scattered: the address of an element
// of A is its start + offset of m + offset of k, that of B likewise with k and n, that of C with m and n.
//
// The classes of axes are those of MLIR's linalg (ContractionDimensions: batch, m, n, k); that such a product runs at
// the speed of a dense one if panels are packed by offsets is the result of TBLIS (Matthews, 2018).
#pragma once

#include <ago/expression/digits.hpp>
#include <ago/expression/facts.hpp>

namespace ago::expression {

/// A loop, and how far it moves in the two operands and in the result, in elements.
struct matrix_loop {
  int extent{1};
  long a{}, b{}, c{};
  bool operator==(matrix_loop const&) const = default;
};

/// Nested loops, the last of which runs fastest; together they count one dimension of the product.
struct matrix_loops {
  matrix_loop all[digit_sum::max_digits]{};
  int count{};

  constexpr long extent() const {
    long r = 1;
    for (int i = 0; i < count; ++i) r *= all[i].extent;
    return r;
  }
  /// The offset of index i of the dimension, in `which` of the three values.
  constexpr long offset(long i, long matrix_loop::* which) const {
    long r = 0;
    for (int k = count; k-- > 0;) {
      r += i % all[k].extent * (all[k].*which);
      i /= all[k].extent;
    }
    return r;
  }
  /// Are the offsets 0, step, 2 * step, ...? Then nothing needs to be packed, or gathered, along the dimension.
  constexpr bool is_progression(long matrix_loop::* which) const {
    bool first = true;
    long next = 0;
    for (int k = count; k-- > 0;) {
      if (all[k].extent == 1) continue;
      if (!first && all[k].*which != next) return false;
      next = all[k].*which * all[k].extent;
      first = false;
    }
    return true;
  }
  /// The step of a progression; 0 if there is one element.
  constexpr long step(long matrix_loop::* which) const {
    for (int k = count; k-- > 0;)
      if (all[k].extent > 1) return all[k].*which;
    return 0;
  }
};

/// Why an expression is no matrix product.
enum class no_matrix : std::uint8_t {
  none,
  no_sum_of_products,  ///< or several
  more_factors,        ///< not two elements, and numbers
  not_separable,       ///< an index has a quotient that digits do not resolve
  dependent_index,
};

/// One factor: an operand, as if it were copied into a larger value with `before` elements of padding in front of each
/// dimension, where the expression reads outside of it.
struct matrix_operand {
  int access{-1}, operand{-1};
  extents padded{};
  int before[max_rank]{};
  long start{};  ///< of all offsets

  constexpr bool is_padded(extents const& of) const { return !(padded == of); }
};

/// C[m, n] = scale * sum over k of A[m, k] * B[k, n], for each batch.
struct matrix_form {
  no_matrix why_not{};
  int sum{-1};  ///< the node
  float scale{1};
  matrix_operand a{}, b{};
  matrix_loops batch{}, m{}, n{}, k{};
};

namespace detail {

/// The operand with its padding.
constexpr matrix_operand matrix_operand_of(index_expression const& e, int number) {
  element_access const& r = e.body.accesses[number];
  matrix_operand o{.access = number, .operand = r.operand, .padded = e.operands[r.operand]};
  if (!r.padded) return o;
  for (int d = 0; d < r.rank; ++d) {
    if (r.at[d].node >= 0) continue;
    range const v = range_of(e.body, r.at[d].sum, e.extent);
    int const extent = o.padded.of[d];
    o.before[d] = v.lower < 0 ? int(-v.lower) : 0;
    o.padded.of[d] = o.before[d] + (v.upper >= extent ? int(v.upper) + 1 : extent);
  }
  return o;
}

constexpr digit_sum place_in(index_expression const& e, digits const& in, matrix_operand& o) {
  digit_sum s = address_of(e, in, e.body.accesses[o.access], o.padded);
  for (int d = 0; d < o.padded.rank; ++d) s.constant += o.before[d] * o.padded.stride(d);
  o.start = s.constant;
  return s;
}

}  // namespace detail

/// The matrix product in an expression: that of its only sum of products, whatever follows it.
constexpr matrix_form matrix_form_of(index_expression const& e) {
  matrix_form r;
  for (int n = 0; n < e.body.node_count; ++n) {
    if (!is_sum_of_products(e, n)) continue;
    if (r.sum >= 0) r.why_not = no_matrix::no_sum_of_products;
    r.sum = n;
  }
  if (r.sum < 0) r.why_not = no_matrix::no_sum_of_products;
  if (r.why_not != no_matrix::none) return r;
  product_factors f;
  f.add(e, e.body.nodes[r.sum].operand[0]);
  r.scale = f.scale;
  if (f.count != 2 || f.others > 0) {
    r.why_not = no_matrix::more_factors;
    return r;
  }
  r.a = detail::matrix_operand_of(e, f.accesses[0]);
  r.b = detail::matrix_operand_of(e, f.accesses[1]);
  if (e.body.accesses[r.a.access].is_dependent() || e.body.accesses[r.b.access].is_dependent()) {
    r.why_not = no_matrix::dependent_index;
    return r;
  }
  digits const in(e);
  digit_sum const a = detail::place_in(e, in, r.a), b = detail::place_in(e, in, r.b);
  if (!a.is_exact || !b.is_exact) {
    r.why_not = no_matrix::not_separable;
    return r;
  }
  unsigned const reduced = e.body.nodes[r.sum].bits;
  for (int i = 0; i < in.count; ++i) {
    digit const& x = in.all[i];
    bool const in_result = x.axis < e.result.rank;
    if (!in_result && !(reduced >> x.axis & 1)) continue;  // of another fold
    matrix_loop const l{x.extent, a.of[i], b.of[i], in_result ? x.weight * e.result.stride(x.axis) : 0};
    matrix_loops& to = !in_result ? r.k : b.of[i] == 0 ? r.m : a.of[i] == 0 ? r.n : r.batch;
    to.all[to.count++] = l;
  }
  return r;
}

}  // namespace ago::expression
