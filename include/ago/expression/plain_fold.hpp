// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds times numbers, such as means, and expressions of one fold, as gradients take them.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression {

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

namespace detail {

/// An expression with at most one fold, at its root, but for a factor.
struct plain_fold {
  int fold_node{-1};  ///< -1: there is none
  node_kind kind{};
  int body{};  ///< what is folded, or the root
  unsigned axes{};
  double factor{1};

  constexpr explicit plain_fold(index_expression const& e) : body(e.root()) {
    scaled_fold s{is_fold(e.at_root().kind) ? e.root() : -1};
    if (s.fold < 0) s = scaled_fold_of(e, e.root());
    if (s.fold < 0 || (s.fold != e.root() && e.body.nodes[s.fold].kind != node_kind::sum)) return;
    node const& n = e.body.nodes[s.fold];
    kind = n.kind;
    body = n.operand[0];
    axes = n.bits;
    factor = double(s.factor);
    fold_node = s.fold;
  }
  constexpr bool is(node_kind k) const { return fold_node >= 0 && kind == k; }
  constexpr bool chooses() const { return is(node_kind::maximum_of) || is(node_kind::minimum_of); }
};

}  // namespace detail
}  // namespace ago::expression
