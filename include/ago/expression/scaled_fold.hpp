// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds times numbers, such as means.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression::detail {

/// A fold times a number, or divided by one.
struct scaled_fold {
  int fold{-1};  ///< the node; -1: it is none
  float factor{1};
};
constexpr scaled_fold scaled_fold_of(index_expression const& e, int n) {
  node const& x = e.body.nodes[n];
  if (x.kind != node_kind::multiply && x.kind != node_kind::divide) return {};
  for (int i = 0; i < (x.kind == node_kind::multiply ? 2 : 1); ++i) {
    node const &a = e.body.nodes[x.operand[i]], &b = e.body.nodes[x.operand[1 - i]];
    if (is_fold(a.kind) && b.kind == node_kind::number && (x.kind == node_kind::multiply || b.number() != 0))
      return {x.operand[i], x.kind == node_kind::multiply ? b.number() : float(1. / double(b.number()))};
  }
  return {};
}

}  // namespace ago::expression::detail
