// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph that rules rewrite in place, with the properties of its values that rules need.
#pragma once

#include <ago/passes/rewriting.hpp>
#include <ago/passes/rule.hpp>
#include <ago/passes/value_bounds.hpp>

namespace ago::passes {

/// Rules inspect a node and those before it, and change them without changing the node's value. They keep the order of
/// nodes, and change the value of an earlier node only if nothing else reads it.
template <int V, int E, int O>
struct rewriter {
  graph<V, E, O>& g;
  value_uses<V> uses;
  array_of<value_bounds, V> bounds{};

  constexpr explicit rewriter(graph<V, E, O>& of) : g(of), uses(of) {}

  constexpr node& operator[](int v) { return g.nodes[v]; }
  constexpr int operand(int v, int k = 0) const { return g.operand(v, k); }
  constexpr shape const& shape_of(int v) const { return g.nodes[v].out; }

  /// Makes x operand number k of v.
  constexpr void read(int v, int x, int k = 0) {
    int& operand = g.edges[g.nodes[v].input_first + k];
    --uses.readers[operand];
    ++uses.readers[x];
    operand = x;
  }
  /// Replaces node v by `n` with x as its only operand; shape, layer, line and name stay.
  constexpr void become(int v, node n, int x) {
    node const& old = g.nodes[v];
    for (int k = 0; k < old.input_count; ++k) --uses.readers[g.operand(v, k)];
    ++uses.readers[x];
    g.edges[old.input_first] = x;
    n.out = old.out;
    n.input_first = old.input_first;
    n.input_count = 1;
    n.layer = old.layer, n.line = old.line, n.name = old.name;
    g.nodes[v] = n;
  }
  constexpr void become_copy(int v, int x) { become(v, {.kind = op::identity}, x); }
  constexpr void update_bounds(int v) { bounds[v] = bounds_of(g, bounds, v); }

  /// Can the only reader of v be computed in v's kernel?
  constexpr bool takes_only_reader(int v) const { return uses.is_private(v) && takes_epilogue(g.nodes[v].kind); }
};

/// Exchanges the operators of two nodes with one operand each; operands and shapes stay.
constexpr void exchange_operators(node& a, node& b) {
  node const old = a;
  a = b;
  a.input_first = old.input_first, a.out = old.out;
  int const first = b.input_first;
  shape const out = b.out;
  b = old;
  b.input_first = first, b.out = out;
}

}  // namespace ago::passes
