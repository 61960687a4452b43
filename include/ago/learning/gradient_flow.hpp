// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operators of a network gradients flow through, and which of them are equal.
#pragma once

#include <ago/learning/node_parameters.hpp>
#include <ago/learning/trained_rows.hpp>
#include <ago/operators/description.hpp>
#include <ago/passes/passes.hpp>
#include <ago/passes/rewriting.hpp>

namespace ago::learning {

/// The activations whose gradients are computed where those of the batch norm before them read them: those that take
/// less time than a value takes through memory.
template <class Graph>
struct activation_gates {
  static constexpr int nodes = Graph::node_capacity > 0 ? Graph::node_capacity : 1;
  int after[nodes]{};  ///< of each batch norm that has one: its node; otherwise 0
  bool is_gate[nodes]{};

  /// `takes_statistics`: does a batch norm take the statistics of the batch?
  constexpr activation_gates(Graph const& g, auto takes_statistics) {
    value_uses const uses(g);
    for (int v = g.input_count; v < g.node_count; ++v) {
      node const& n = g.nodes[v];
      if (class_of(n.kind) != op_class::arithmetic || n.is_detached || tracing::is_dropout(n)) continue;
      int const before = g.operand(v);
      if (before < g.input_count || !uses.is_private(before) || !takes_statistics(g.nodes[before])) continue;
      after[before] = v;
      is_gate[v] = true;
    }
  }
};

/// For a network and the parameters that are trained: which operators gradients flow through.
template <class Graph, int N>
struct gradient_flow {
  Graph const& g;
  parameter_table<N> const& table;
  trained_rows<N> const& rows;
  activation_gates<Graph> gates;

  constexpr gradient_flow(Graph const& of, parameter_table<N> const& all, trained_rows<N> const& use)
      : g(of), table(all), rows(use), gates(of, [this](node const& n) { return takes_statistics(n); }) {}

  /// The row of the parameter at an offset; -1: there is none.
  constexpr int row_at(int offset) const {
    int low = 0, high = N;
    while (low < high) {
      int const middle = (low + high) / 2;
      if (table[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    return low < N && table[low].offset == offset ? low : -1;
  }
  constexpr bool is_trained(int offset) const {
    int const i = offset < 0 ? -1 : row_at(offset);
    return i >= 0 && rows.use[i] == row_use::trained;
  }
  /// Does a batch norm take the statistics of the batch?
  constexpr bool takes_statistics(node const& n) const {
    return n.kind == op::batch_norm && rows.use[row_at(n.norm + 2 * n.out.c)] == row_use::statistic;
  }
  constexpr bool trains_own(node const& n) const {
    return is_trained(n.weight) || is_trained(n.shift) || is_trained(n.norm) ||
           (n.norm >= 0 && is_trained(n.norm + n.out.c));
  }
};

/// The operators of a network in classes of equal ones.
template <int V>
struct operator_classes {
  int first[V]{};   ///< of each node: the first one of its class
  bool flows[V]{};  ///< of each node: whether a gradient may flow through its value
  // Of the first one of a class: operands that a gradient flows through in one of the class, and parameters that are
  // trained (offset_of), as bits.
  unsigned operands[V]{}, parameters[V]{};
};

template <class Graph, int N>
constexpr bool in_one_class(gradient_flow<Graph, N> const& f, int u, int v) {
  Graph const& g = f.g;
  node const &a = g.nodes[u], &b = g.nodes[v];
  int const after_a = f.gates.after[u], after_b = f.gates.after[v];
  if (f.gates.is_gate[u] != f.gates.is_gate[v] || (after_a == 0) != (after_b == 0)) return false;
  if (after_a > 0 && !same_operator(g.nodes[after_a], g.nodes[after_b])) return false;
  if (!same_operator(a, b) || f.takes_statistics(a) != f.takes_statistics(b)) return false;
  for (int p = 0; p < node_parameters; ++p)
    if ((offset_of(a, p) < 0) != (offset_of(b, p) < 0)) return false;
  for (int k = 0; k < a.input_count; ++k)
    if (g.nodes[g.edges[a.input_first + k]].out != g.nodes[g.edges[b.input_first + k]].out) return false;
  return true;
}
template <int V, class Graph, int N>
constexpr operator_classes<V> classes_of(gradient_flow<Graph, N> const& f) {
  operator_classes<V> r;
  Graph const& g = f.g;
  int representatives[V]{}, count = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    int i = 0;
    while (i < count && !in_one_class(f, representatives[i], v)) ++i;
    if (i == count) representatives[count++] = v;
    int const u = r.first[v] = representatives[i];
    for (int p = 0; p < node_parameters; ++p)
      if (f.is_trained(offset_of(n, p))) r.parameters[u] |= 1u << p;
    for (int k = 0; k < n.input_count; ++k)
      if (r.flows[g.operand(v, k)]) {
        r.flows[v] = true;
        if (k < described::max_operands) r.operands[u] |= 1u << k;
      }
    r.flows[v] = (r.flows[v] || f.trains_own(n)) && !n.is_detached;
  }
  return r;
}

}  // namespace ago::learning
