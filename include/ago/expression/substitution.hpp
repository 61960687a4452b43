// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One expression in place of the value that another one reads: it is then computed wherever it is read, and never
// stored (NeoFlow, section 4.3).
#pragma once

#include <ago/expression/draft.hpp>
#include <ago/expression/rewriter.hpp>

#include <cstdint>
#include <initializer_list>

namespace ago::expression {

/// Whether an operator of one expression reads its input k.
constexpr bool reads_input(definition const& d, int k) {
  bool r = false;
  for (int i = 0; i < d.expressions[0].operand_count; ++i) r |= d.reads[0][i] == k;
  return r;
}

namespace detail {

/// Can the elements that this expression reads be computed from their indices?
constexpr bool can_be_computed(element_access const& a) {
  bool r = !a.padded;
  for (int d = 0; d < a.rank; ++d) r = r && a.at[d].node < 0;
  return r;
}

struct substitution {
  index_expression const& outer;
  std::int16_t const* outer_values;
  index_expression const& inner;  ///< without folds
  std::int16_t const* inner_values;
  draft made{};
  axis_values axes{outer, made.into};
  rewriter rest{outer, outer_values, -1, axes, made.reads};

  /// With `inner` in place of operand k of `outer`. Adds it to an operator.
  constexpr void emit(definition_writer& out, int k) {
    made.e.axis_count = outer.axis_count;
    for (int x = 0; x < outer.axis_count; ++x) {
      made.e.extent[x] = outer.extent[x];
      axes.set_axis(x, axes.axis(x));
    }
    for (int n = 0; n < outer.body.node_count; ++n) {
      node const& x = outer.body.nodes[n];
      if (x.kind != node_kind::read) continue;
      element_access const& a = outer.body.accesses[x.operand[0]];
      if (a.operand == k) rest.moved[n] = std::int16_t(1 + at(a));
    }
    int const root = rest.copy(outer.root());
    if (!axes.fits) out.complain(canonical::max_terms);
    made.emit(out, root, outer.result.rank);
  }

 private:
  /// Where operand k is read.
  constexpr int at(element_access const& a) {
    axis_values here{inner, made.into};
    for (int d = 0; d < a.rank; ++d) here.set_axis(d, axes.copy(a.at[d].sum));
    rewriter element{inner, inner_values, -1, here, made.reads};
    int const n = element.copy(inner.root());
    axes.fits &= here.fits;
    return n;
  }
};

}  // namespace detail

/// Operator `outer` with operator `inner` in place of its input k; both are one expression, and `inner` has no folds.
/// The inputs are those of `outer` without k, then those of `inner`, unless input i of `inner` is input same[i] of
/// `outer`; without those that nothing reads. `bad`: too_large, also if `outer` reads input k beyond its edge or at
/// indices that are values.
constexpr definition substituted(definition const& outer, int k, definition const& inner,
                                 std::initializer_list<int> same = {}) {
  definition all, r;
  auto const give = [&](value const& v) {
    all.values[all.value_count++] = v;
    return std::int16_t(all.value_count - 1);
  };
  index_expression const &from = outer.expressions[0], &of = inner.expressions[0];
  std::int16_t places[definition::max_values]{}, inner_places[definition::max_values]{};
  for (int i = 0; i < outer.input_count; ++i) places[i] = i == k ? std::int16_t(0) : give(outer.values[i]);
  for (int i = 0; i < inner.input_count; ++i) {
    int const s = i < int(same.size()) ? same.begin()[i] : -1;
    inner_places[i] = s < 0 ? give(inner.values[i]) : places[s];
  }
  std::int16_t values[index_expression::max_operands]{}, inner_values[index_expression::max_operands]{};
  int replaced = -1;
  for (int i = 0; i < from.operand_count; ++i) {
    values[i] = places[outer.reads[0][i]];
    if (outer.reads[0][i] == k) replaced = i;
  }
  for (int i = 0; i < of.operand_count; ++i) inner_values[i] = inner_places[inner.reads[0][i]];
  detail::definition_writer out{all};
  for (int a = 0; a < from.body.access_count; ++a) {
    element_access const& x = from.body.accesses[a];
    if (x.operand == replaced && !detail::can_be_computed(x)) out.complain(0);
  }
  int const inputs = all.value_count;
  detail::substitution{from, values, of, inner_values}.emit(out, replaced);
  if (all.bad.what != fault::none) {
    r.bad = all.bad;
    return r;
  }
  r.name = outer.name;
  std::int16_t moved_to[definition::max_values]{};
  for (int v = 0; v < inputs; ++v) {
    if (!reads_input(all, v)) continue;
    moved_to[v] = std::int16_t(r.value_count);
    r.values[r.value_count++] = all.values[v];
  }
  r.input_count = r.value_count;
  std::int16_t reads[index_expression::max_operands]{};
  for (int i = 0; i < all.expressions[0].operand_count; ++i) reads[i] = moved_to[all.reads[0][i]];
  r.results[r.result_count++] = detail::definition_writer{r}.emit(all.expressions[0], reads);
  return r;
}

}  // namespace ago::expression
