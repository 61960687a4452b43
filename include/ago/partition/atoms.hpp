// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atoms, which are never cut: a complex operator with the elementwise operators that its kernel can apply to a result
// before storing it.
#pragma once

#include <ago/partition/dag.hpp>

namespace ago::partition {

/// The number of elementwise operators that one kernel can apply: the length of its epilogue. A bias directly after a
/// complex operator does not count, because accumulators start from it.
inline constexpr int max_followers = 6;

/// The number of elementwise operators that may follow in an atom starting with `kind`.
constexpr int followers_after(op kind) {
  switch (class_of(kind)) {
    case op_class::convolution:
    case op_class::matrix_product:
    case op_class::value_product:
    case op_class::contraction:
    case op_class::window_pool:
    case op_class::global_pool:
    case op_class::norm:
    case op_class::reduction:
    case op_class::resize:
    case op_class::embedding:
    case op_class::identity: return max_followers;
    case op_class::parametric:
    case op_class::arithmetic:
    case op_class::function:
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power: return max_followers - 1;  // in an elementwise run, the first operator counts
    case op_class::input:
    case op_class::constant:
    case op_class::movement:
    case op_class::concat:
    case op_class::pad:
    case op_class::expand:
    case op_class::layout:
    case op_class::nest: return 0;
  }
  no_case_for_this_value();
}

/// The operand whose atom `v` can join: only v reads it, it has v's shape, and its atom has room. Of two, the one
/// computed last, so that the other is ready. -1: none.
template <int V, int E, int O>
constexpr int operand_followed(graph<V, E, O> const& g, int v, value_uses<V> const& uses, int const* room) {
  int best = -1;
  for (int k = 0; k < g.nodes[v].input_count; ++k) {
    int const u = g.operand(v, k);
    if (u > best && uses.is_private(u) && g.nodes[u].out == g.nodes[v].out && room[u] > 0) best = u;
  }
  return best;
}

/// The atoms of a network, over its operators (operator i is node g.input_count + i): each complex operator, pooling or
/// elementwise operator with the chain of elementwise operators after it. concat and changes of layout stay alone.
///
/// `within`: groups that no atom may cross; empty: none. (No pointer: with the options of sanitizers, g++ cannot
/// compare the address of a constant with null in a constant expression.)
///
/// Contracting atoms creates no cycle: inside an atom every value but the last has one reader, the next member, so all
/// edges out of an atom start at its last member.
template <int V, int E, int O>
constexpr grouping<V> atoms_of(graph<V, E, O> const& g, grouping<V> const& within = grouping<V>{}) {
  value_uses<V> const uses(g);
  grouping<V> r;
  array_of<int, slots<V>> room{};  // left in the atom that ends in this node; 0 for inputs
  for (int v = g.input_count; v < g.node_count; ++v) {
    op const kind = g.nodes[v].kind;
    int const u = is_elementwise(kind) ? operand_followed(g, v, uses, room) : -1;
    if (u < 0 || (within.count > 0 && within.of[u - g.input_count] != within.of[v - g.input_count])) {
      room[v] = followers_after(kind);
      r.of[v - g.input_count] = r.count++;
    } else {
      room[v] = room[u] - !(kind == op::bias && has_weights(g.nodes[u].kind));
      r.of[v - g.input_count] = r.of[u - g.input_count];
    }
  }
  return r;
}

}  // namespace ago::partition
