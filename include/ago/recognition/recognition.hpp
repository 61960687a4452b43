// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an index expression to the operators of the graph that compute it.
#pragma once

#include <ago/expression/fold_pair.hpp>
#include <ago/expression/split_folds.hpp>
#include <ago/recognition/recognise_averages.hpp>
#include <ago/recognition/recognise_elementwise.hpp>
#include <ago/recognition/recognise_folds.hpp>

#include <cstdint>

namespace ago::recognition {

/// The nodes that compute an expression: what its layers would record. `parameters`: operands that are trained
/// parameters, as bits. Names of variables, the order of factors, terms and folded axes, and axes of one element do not
/// matter. Empty if a part of the expression has no operator.
constexpr recognised_nodes recognise(expression::index_expression const& e, unsigned parameters = 0) {
  using expression::node_kind;
  recognised_nodes r;
  recognition_list list{r};
  index_view const view(e);
  node_kind const root = e.at_root().kind;
  bool const has_fold = expression::has_fold(e);
  if (root == node_kind::read) {
    recognise_movement(view, list);
  } else if (!has_fold) {
    elementwise_finder(view, list, parameters).find();
  } else {
    expression::scaled_fold s = expression::scaled_fold_of(e, e.root());
    if (expression::is_fold(root)) s = {e.root(), 1};
    bool const found = s.fold < 0 ? average_finder{view, list}.find(e.root())
                                  : recognise_fold(view, list, s.fold, double(s.factor), parameters);
    if (!found) list.fail();
  }
  if (list.failed) r.count = 0;
  return r;
}

/// The operands of expression i of an operator that are parameters, as bits.
constexpr unsigned parameters_of(expression::definition const& d, int i) {
  unsigned r = 0;
  for (int k = 0; k < d.expressions[i].operand_count; ++k)
    r |= unsigned(d.values[d.reads[i][k]].role == expression::value_role::parameter) << k;
  return r;
}

/// The normal form of an operator (split_folds) whose expressions stay whole where they are recognised, or are pairs of
/// folds. If it exceeds a limit, the operator itself.
constexpr expression::definition normalised(expression::definition const& d) {
  expression::definition const r = expression::split_folds(
      d, [](expression::index_expression const& e, std::int16_t const* reads, expression::definition const& made) {
        if (expression::fold_pair(e).axis >= 0) return true;
        unsigned parameters = 0;
        for (int k = 0; k < e.operand_count; ++k)
          parameters |= unsigned(made.values[reads[k]].role == expression::value_role::parameter) << k;
        return bool(recognise(e, parameters));
      });
  return r.bad.what == expression::fault::too_large ? d : r;
}

}  // namespace ago::recognition
