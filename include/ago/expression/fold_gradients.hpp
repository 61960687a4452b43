// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the gradients of folds other than sums need beside the result.
#pragma once

#include <ago/expression/arithmetic_writer.hpp>
#include <ago/expression/draft.hpp>
#include <ago/expression/plain_fold.hpp>
#include <ago/expression/rewriter.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// The numbers of the points of a fold, in order. Indices up to twice as large as an axis have other numbers than its
/// points, so that these need not be excluded.
struct point_numbers {
  long multiple[max_axes]{};
  long count{1};

  constexpr point_numbers(index_expression const& e, unsigned axes) {
    for (int x = e.axis_count; x-- > 0;)
      if ((axes >> x & 1) && e.extent[x] > 1) {
        multiple[x] = count;
        count *= 2 * e.extent[x];
      }
  }
};

/// For each element of a maximum or minimum, the number of the first point of the fold that is equal to it.
constexpr int emit_first_of_equals(definition_writer& out, computed_value const& y, plain_fold const& fold) {
  index_expression e = y.e;
  std::int16_t reads[index_expression::max_operands]{};
  for (int k = 0; k < e.operand_count; ++k) reads[k] = y.reads[k];
  e.body.nodes[--e.body.node_count] = {};
  canonical into{e};
  arithmetic_writer const write{into};
  element_access best{.operand = std::int16_t(into.add_operand(reads, y.value, e.result)),
                      .rank = std::int16_t(e.result.rank)};
  for (int d = 0; d < e.result.rank; ++d) {
    term const t{std::int16_t(d), 1};
    best.at[d].sum = into.add(&t, 1, 0);
  }
  element_access number{.rank = 1};
  term terms[max_axes]{};
  int count = 0;
  point_numbers const points(y.e, fold.axes);
  for (int x = 0; x < e.axis_count; ++x)
    if (points.multiple[x] > 0) terms[count++] = {std::int16_t(x), std::int32_t(points.multiple[x])};
  constexpr long exact_in_float = 1 << 24;
  if (points.count > exact_in_float) out.complain(int(exact_in_float));
  number.at[0].sum = into.add(terms, count, 0);
  int const at = into.add(node{node_kind::position, {std::int16_t(into.add(number)), -1, -1}});
  int const found =
      write.make(node_kind::equal, fold.body, into.add(node{node_kind::read, {std::int16_t(into.add(best)), -1, -1}}));
  int const place = write.make(node_kind::select, found, at, write.number(double(points.count)));
  into.add(node{node_kind::minimum_of, {std::int16_t(place), -1, -1}, fold.axes});
  if (into.exceeded) out.complain(into.exceeded);
  return into.exceeded ? 0 : out.emit(e, reads);
}

/// For each point of a product, the product of the others: a quotient would not do where a factor is 0. Its axes are
/// those of `at`.
constexpr int emit_product_of_others(definition_writer& out, computed_value const& y, plain_fold const& fold,
                                     unsigned at) {
  index_expression const& e = y.e;
  int const rank = __builtin_popcount(at);
  if (rank > max_rank) return out.complain(max_rank), 0;
  draft made;
  axis_values axes{e, made.into};
  affine_sum place_of[max_axes]{}, other[max_axes]{};
  unsigned const sets[] = {at, at & fold.axes};
  for (unsigned const set : sets)
    for (int x = 0; x < e.axis_count; ++x) {
      if (!(set >> x & 1) || !made.into.has_room(made.e.axis_count, max_axes)) continue;
      made.e.extent[made.e.axis_count] = e.extent[x];
      if (made.e.axis_count < rank) place_of[x] = axes.axis(made.e.axis_count);
      other[x] = axes.axis(made.e.axis_count++);
    }
  for (int x = 0; x < e.axis_count; ++x) axes.set_axis(x, other[x]);
  arithmetic_writer const write{made.into};
  rewriter from{e, y.reads, -1, axes, made.reads};
  int same = write.number(1);
  unsigned folded = 0;
  for (int x = 0; x < e.axis_count; ++x)
    if (at & fold.axes & 1u << x) {
      axis_values::sum difference;
      difference.add({place_of[x], 1, 0, 1});
      difference.add({other[x], 1, 0, -1});
      folded |= 1u << made.e.body.terms[other[x].first].atom;
      int const is_zero = write.make(node_kind::equal, from.position(axes.made(difference)), write.number(0));
      same = write.multiply(same, is_zero);
    }
  int const factor = write.make(node_kind::select, same, write.number(1), from.copy(fold.body));
  int const root = made.into.add(node{node_kind::product, {std::int16_t(factor), -1, -1}, folded});
  if (!axes.fits) out.complain(canonical::max_terms);
  return made.emit(out, root, rank);
}

}  // namespace ago::expression::detail
