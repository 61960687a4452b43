// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of nests whose elements are far apart in the lanes of a register, and are copied so that they are not.
#pragma once

#include <ago/expression/facts.hpp>
#include <ago/partition/device.hpp>
#include <ago/plan/step.hpp>

namespace ago::kernel {

/// An operand that is copied with one of its dimensions in front, for so many of its indices at a time; scratch for it.
struct nest_turn {
  int dimension{-1};  ///< -1: nothing is copied
  int lanes{};
  long outer{}, inner{};  ///< elements of the dimensions before it, and of those behind it

  constexpr bool turns() const { return dimension >= 0; }
  constexpr long scratch_floats() const { return turns() ? (outer * inner * lanes + 15) / 16 * 16 : 0; }
};

/// Sums of nothing but an element of an operand that is not in the order of the result, as those of windows are if
/// their products are in the order of the weights (expression/window_products.hpp): the last index of the result is
/// one of several dimensions behind which others follow. So many lanes at a time that their copy stays in L2.
constexpr nest_turn turn_of_nest(expression::index_expression const& e, isa target, device const& on = {}) {
  expression::node const& root = e.at_root();
  int const last = e.result.rank - 1, width = lanes(target);
  if (!is_fold(root.kind) || e.body.access_count != 1 || last < 1 || width == 1 || e.extent[last] < width) return {};
  expression::element_access const& read = e.body.accesses[0];
  if (e.body.nodes[root.operand[0]].kind != expression::node_kind::read || read.operand < 0) return {};
  nest_turn r;
  for (int d = 0; d < read.rank; ++d) {
    if (read.at[d].node >= 0) return {};
    if (!(axes_of(e.body, read.at[d].sum) >> last & 1)) continue;
    if (r.turns() || plain_axis(e.body, read.at[d]) != last) return {};
    r.dimension = d;
  }
  expression::extents const& of = e.operands[read.operand];
  if (!r.turns() || of.stride(r.dimension) == 1 || of.of[r.dimension] != e.extent[last]) return {};
  r.inner = of.stride(r.dimension);
  r.outer = of.count() / of.of[r.dimension] / r.inner;
  r.lanes = width;
  while (2 * r.lanes <= 4 * width && 2 * r.lanes <= e.extent[last] &&
         8L * r.outer * r.inner * r.lanes <= on.l2_bytes / 2)
    r.lanes *= 2;
  return r;
}

}  // namespace ago::kernel
