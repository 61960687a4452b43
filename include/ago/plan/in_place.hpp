// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that take the memory of an operand which nothing needs any more: what is written is in a cache already, and
// the arena has one value less.
#pragma once

#include <ago/plan/form_steps.hpp>

namespace ago::plan {

/// Calls visit(owner) for each value whose memory v is in: its own if it has some.
template <int V>
constexpr void for_each_owner(int v, concat_views<V> const& views, channel_layouts<V> const& layouts,
                              auto const& visit) {
  if (!layouts.is_view[v]) return visit(root_of(views, v));
  for (int r = 0; r < layouts.runs[v].count; ++r) visit(root_of(views, layouts.runs[v].run[r].value));
}

/// Among the values that step s reads, one whose memory its result may take, the one for which age(v) is largest; -1:
/// none. Of every element, the kernel has read all that is needed before it writes the element at that place.
/// `age`: negative for a value that is needed later, or is not in the arena as a whole.
template <int V, int E, int O>
constexpr int overwritten_by(graph<V, E, O> const& g, step_nodes const& s, concat_views<V> const& views,
                             channel_layouts<V> const& layouts, auto const& age) {
  auto const owns = [&](int v) { return !layouts.is_view[v] && views.parent[v] < 0; };
  if (!s.is_whole() || s.copy_to_output >= 0 || !owns(s.result)) return -1;
  structure const what = s.main >= 0 ? structure_of(g, s) : structure::elementwise;
  expression::index_expression const* const described = s.main >= 0 ? g.nodes[s.main].described : nullptr;
  auto const allows = [&](int operand) { return kernel::facts_of(what).overwrites(described, operand); };
  int best = -1;
  for_each_read(s, [&](int u, int) {
    bool allowed = g.nodes[u].out == g.nodes[s.result].out && owns(u) && age(u) >= 0;
    if (!allowed || (best >= 0 && age(u) <= age(best))) return;
    for_each_read(s, [&](int v, int operand) {
      if (v == u) allowed = allowed && (operand >= 0 || s.main < 0) && allows(operand);
      else for_each_owner(v, views, layouts, [&](int owner) { allowed = allowed && owner != u; });
    });
    if (allowed) best = u;
  });
  return best;
}

}  // namespace ago::plan
