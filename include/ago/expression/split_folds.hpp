// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The normal form of an operator: folds are the roots of expressions, and what follows them is another expression.
#pragma once

#include <ago/expression/definition_writer.hpp>
#include <ago/expression/excerpt.hpp>
#include <ago/expression/matrix_form.hpp>
#include <ago/expression/plain_fold.hpp>
#include <ago/expression/sum_factors.hpp>

#include <cstdint>

namespace ago::expression {

namespace detail {

template <class Accept>
struct fold_splitter : definition_writer {
  Accept const& accept;

  /// Adds an expression whose operands are the values `reads` in normal form; returns its value.
  constexpr int add(index_expression const& e, std::int16_t const* reads) {
    constexpr int nodes = decltype(index_expression::body)::node_capacity;
    int last = -1;  // the last fold but the root
    for (int n = 0; n < e.root(); ++n)
      if (is_fold(e.body.nodes[n].kind)) last = n;
    if (last < 0) return finish(e, reads);
    if (accept(e, reads, to)) return emit(e, reads);
    stand_in instead[nodes]{};
    free_axes const free(e);
    node_uses const uses(e.body);
    if (scaled_fold const s = scaled_fold_of(e, e.root());
        s.fold >= 0 && free.of[s.fold] == e.result_axes() && is_sum_of_products(e, s.fold))
      return part(e, reads, instead, s.fold, e.result_axes(), s.factor);
    for (int n = 0; n < e.root(); ++n) {
      if (!is_fold(e.body.nodes[n].kind) || (free.of[n] & ~e.result_axes())) continue;
      int const scaled = uses.readers[n] == 1 ? reader_that_scales(e, n) : -1;
      int const unit = scaled >= 0 && scaled < e.root() ? scaled : n;
      instead[unit] = {true, part(e, reads, instead, unit, free.of[n]), free.of[n]};
    }
    return part(e, reads, instead, e.root(), e.result_axes());
  }

 private:
  static constexpr int reader_that_scales(index_expression const& e, int fold) {
    for (int n = fold + 1; n < e.body.node_count; ++n)
      if (scaled_fold_of(e, n).fold == fold) return n;
    return -1;
  }
  /// Adds node n of e, a fold times `factor`, as an expression with the given axes.
  constexpr int part(index_expression const& e, std::int16_t const* values, stand_in const* instead, int n,
                     unsigned axes, float factor = 1) {
    index_expression made;
    std::int16_t reads[index_expression::max_operands]{};
    excerpt x{e, values, instead, made, reads};
    if (factor != 1) x.take_scaled(n, factor, axes);
    else x.take(n, axes);
    if (x.into.exceeded) {
      complain(x.into.exceeded);
      return 0;
    }
    // Folds that are left at the end depend on axes of other folds.
    bool const is_left = n == e.root() && factor == 1;
    return is_left ? finish(made, reads) : add(made, reads);
  }

  /// Adds an expression without folds that could be split; a sum as a matrix product, if its factors can be computed
  /// before.
  constexpr int finish(index_expression const& e, std::int16_t const* reads) {
    if (e.at_root().kind != node_kind::sum) return emit(e, reads);
    free_axes const free(e);
    sum_factors const f(e, free.of);
    if (!f.fits) return emit(e, reads);
    int const expressions = to.expression_count, made = to.value_count;
    int const result = multiply(f, reads);
    if (result >= 0 && to.bad.what == fault::none) return result;
    to.bad = {};
    while (to.expression_count > expressions) {
      --to.expression_count;
      to.expressions[to.expression_count] = {};
      to.makes[to.expression_count] = 0;
      for (std::int16_t& v : to.reads[to.expression_count]) v = 0;
    }
    while (to.value_count > made) to.values[--to.value_count] = {};
    return emit(e, reads);
  }
  /// The sum as a matrix product; -1: it is none.
  constexpr int multiply(sum_factors const& f, std::int16_t const* values) {
    index_expression const& e = f.e;
    stand_in instead[sum_factors::most]{};
    unsigned axes[sum_factors::most]{};
    int node_of[sum_factors::most]{}, count = f.count;
    for (int i = 0; i < count; ++i) {
      sum_factor const& one = f.all[i];
      axes[i] = one.axes;
      node_of[i] = one.node;
      if (one.way == sum_factor::how::as_it_is) continue;
      bool const on_operand = one.way == sum_factor::how::on_operand;
      int const value = emitted(e, values, [&](excerpt& x) {
        if (on_operand) x.take_on_operand(one.node, one.access);
        else x.take(one.node, one.axes);
      });
      instead[i] = {true, value, one.axes, on_operand, one.access, one.pad_bits};
    }
    for (; count > 2; --count) {  // the pair with the smallest product
      int first = 0, second = 1;
      for (int i = 0; i < count; ++i)
        for (int k = i + 1; k < count; ++k)
          if (f.points_of(axes[i] | axes[k]) < f.points_of(axes[first] | axes[second])) first = i, second = k;
      unsigned const both = axes[first] | axes[second];
      if (__builtin_popcount(both) > max_rank || !f.saves(f.points_of(both))) return -1;
      int const value = emitted(e, values, [&](excerpt& x) {
        x.begin(both);
        int const a = x.factor(node_of[first], instead[first]);
        x.multiplied(a, x.factor(node_of[second], instead[second]));
      });
      instead[first] = {true, value, both};
      axes[first] = both;
      instead[second] = instead[count - 1], axes[second] = axes[count - 1], node_of[second] = node_of[count - 1];
    }
    bool is_product = true;
    int const result = emitted(e, values, [&](excerpt& x) {
      x.begin(e.result_axes());
      int const a = x.factor(node_of[0], instead[0]);
      int body = x.multiplied(a, x.factor(node_of[1], instead[1]));
      if (f.scale != 1) body = x.multiplied(body, x.number(f.scale));
      x.into.add(node{node_kind::sum, {std::int16_t(body), -1, -1}, x.copied_axes(e.at_root().bits)});
      is_product = matrix_form_of(x.to).why_not == no_matrix::none;
    });
    return is_product ? result : -1;
  }
  /// Adds an expression that `fill` copies out of e.
  constexpr int emitted(index_expression const& e, std::int16_t const* values, auto const& fill) {
    index_expression made;
    std::int16_t reads[index_expression::max_operands]{};
    stand_in const none[excerpt::nodes]{};
    excerpt x{e, values, none, made, reads};
    fill(x);
    if (x.into.exceeded) complain(x.into.exceeded);
    return x.into.exceeded ? 0 : emit(made, reads);
  }
};

/// Nothing stays as it is.
struct accept_none {
  constexpr bool operator()(index_expression const&, std::int16_t const*, definition const&) const { return false; }
};

}  // namespace detail

/// The same operator in normal form: each fold that does not depend on the axes of another fold is an expression of its
/// own, whose result has the axes that it depends on; what remains reads these. Folds of one kind with nothing between
/// are merged, equal expressions are made once, and a number that multiplies a sum of products multiplies its elements.
/// Factors of a sum that it would compute again and again are expressions of their own, if a matrix product is left.
/// An expression for which `accept(expression, values of its operands, operator so far)` holds stays as it is; a fold
/// times a number is asked for first. Inputs, parameters and results keep their order.
template <class Accept = detail::accept_none>
constexpr definition split_folds(definition const& d, Accept const& accept = {}) {
  definition r;
  r.name = d.name;
  r.input_count = d.input_count;
  r.result_count = d.result_count;
  r.bad = d.bad;
  if (d.bad.what != fault::none) return r;
  std::int16_t moved_to[definition::max_values]{};
  for (int v = 0; v < d.value_count; ++v) {
    if (d.values[v].role == value_role::computed) continue;
    moved_to[v] = std::int16_t(r.value_count);
    r.values[r.value_count++] = d.values[v];
  }
  detail::fold_splitter<Accept> splitter{{r}, accept};
  for (int i = 0; i < d.expression_count && r.bad.what == fault::none; ++i) {
    std::int16_t reads[index_expression::max_operands]{};
    for (int k = 0; k < d.expressions[i].operand_count; ++k) reads[k] = moved_to[d.reads[i][k]];
    bool const is_detached = d.values[d.makes[i]].is_detached;
    int const made = is_detached ? splitter.append(d.expressions[i], reads) : splitter.add(d.expressions[i], reads);
    if (is_detached) r.values[made].is_detached = true;
    moved_to[d.makes[i]] = std::int16_t(made);
  }
  for (int i = 0; i < d.result_count; ++i) r.results[i] = moved_to[d.results[i]];
  return r;
}

}  // namespace ago::expression
