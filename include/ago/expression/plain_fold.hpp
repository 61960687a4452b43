// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions as gradients take them.
#pragma once

#include <ago/expression/scaled_fold.hpp>

namespace ago::expression::detail {

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

}  // namespace ago::expression::detail
