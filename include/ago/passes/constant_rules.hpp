// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about trained values: a slice or reshape of one is a trained value itself.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/passes/rewriter.hpp>

namespace ago::passes {

/// v: a reshape, or a slice whose elements are adjacent in the user's weights.
constexpr bool part_of_constant(auto& w, int v) {
  int const u = w.operand(v);
  node const& n = w[v];
  if (w[u].kind != op::constant) return false;
  int first = 0;
  if (n.kind == op::slice) {
    int before = 1, behind = 1;
    for (int i = 0; i < 4; ++i)
      if (i != n.axis) (i < n.axis ? before : behind) *= extent_along(w[u].out, i);
    if (before > 1 || (n.step != 1 && extent_along(n.out, n.axis) > 1)) return false;
    first = n.begin * behind;
  }
  w.become(v, {.kind = op::constant, .weight = w[u].weight + first}, w.operand(u));
  return true;
}

}  // namespace ago::passes
