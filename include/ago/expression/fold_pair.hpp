// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two folds of the same elements as the two rows of a result, so that these elements are read once for both.
#pragma once

#include <ago/expression/excerpt.hpp>

namespace ago::expression {

/// `select(i == 0, fold, fold)`, where i is an axis of the result with two indices on which neither fold depends. Both
/// folds have the same axes, and each reads an element that it reads only once: so neither is a product of matrices.
struct fold_pair {
  int axis{-1};   ///< i; -1: the expression is none
  int fold[2]{};  ///< the nodes for i = 0 and 1

  constexpr explicit fold_pair(index_expression const& e) {
    node const& root = e.at_root();
    if (root.kind != node_kind::select) return;
    int const a = root.operand[1], b = root.operand[2], x = axis_compared_with_0(e, e.body.nodes[root.operand[0]]);
    if (x < 0 || a == b || !is_fold(e.body.nodes[a].kind) || !is_fold(e.body.nodes[b].kind)) return;
    if (e.body.nodes[a].bits != e.body.nodes[b].bits) return;
    detail::free_axes const free(e);
    unsigned const axes = ((e.result_axes() & ~(1u << x)) | e.body.nodes[a].bits) & e.wide_axes();
    if (((free.of[a] | free.of[b]) >> x & 1) || !reads_once(e, a, axes) || !reads_once(e, b, axes)) return;
    axis = x;
    fold[0] = a, fold[1] = b;
  }

 private:
  /// The axis i of `i == 0`, if it has two indices; -1: the node is something else.
  static constexpr int axis_compared_with_0(index_expression const& e, node const& n) {
    if (n.kind != node_kind::equal) return -1;
    for (int i = 0; i < 2; ++i) {
      node const &place = e.body.nodes[n.operand[i]], &zero = e.body.nodes[n.operand[1 - i]];
      if (place.kind != node_kind::position || zero.kind != node_kind::number || zero.number() != 0) continue;
      index_map const& m = e.body.accesses[place.operand[0]].at[0];
      if (m.node >= 0 || m.sum.count != 1 || m.sum.constant != 0) continue;
      term const& t = e.body.terms[m.sum.first];
      if (t.coefficient == 1 && t.atom < e.result.rank && e.extent[t.atom] == 2) return t.atom;
    }
    return -1;
  }
  /// Does fold n, which has no folds below it, read an element at all these axes?
  static constexpr bool reads_once(index_expression const& e, int n, unsigned axes) {
    bool needs[decltype(index_expression::body)::node_capacity]{};
    needs[n] = true;
    bool reads = false;
    for (int k = n; k >= 0; --k) {
      if (!needs[k]) continue;
      node const& x = e.body.nodes[k];
      if (is_fold(x.kind) && k != n) return false;
      reads |= x.kind == node_kind::read && (axes_of(e.body, e.body.accesses[x.operand[0]]) & e.wide_axes()) == axes;
      for_each_node_read(e.body, x, [&](int i) { needs[i] = true; });
    }
    return reads;
  }
};

}  // namespace ago::expression
