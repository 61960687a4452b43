// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs for the tests of the partitioner, built as values.
#pragma once

#include <ago/partition/dag.hpp>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>
#include <vector>

namespace test {

/// Appends nodes to a graph; shapes of elementwise operators follow from the operand.
template <int V, int E, int O = 1>
struct builder {
  ago::ir::graph<V, E, O> g{};

  constexpr int input(ago::shape out) {
    g.nodes[g.node_count] = {.kind = ago::op::input, .out = out};
    ++g.input_count;
    return g.node_count++;
  }
  constexpr int add(ago::ir::node n, std::initializer_list<int> operands) {
    n.input_first = g.edge_count;
    for (int u : operands) g.edges[g.edge_count++] = u;
    n.input_count = int(operands.size());
    g.nodes[g.node_count] = n;
    return g.node_count++;
  }
  constexpr ago::shape shape_of(int v) const { return g.nodes[v].out; }
  constexpr ago::shape with_channels(int v, int c) const {
    ago::shape s = shape_of(v);
    s.c = c;
    return s;
  }
  constexpr int unary(ago::op kind, int x) { return add({.kind = kind, .out = shape_of(x)}, {x}); }
  constexpr int binary(ago::op kind, int x, int y) { return add({.kind = kind, .out = shape_of(x)}, {x, y}); }
  constexpr int pointwise(int x, int c) { return add({.kind = ago::op::pointwise, .out = with_channels(x, c)}, {x}); }
  constexpr int depthwise(int x) {
    return add({.kind = ago::op::depthwise, .out = shape_of(x), .win = {.kernel_h = 3, .kernel_w = 3}}, {x});
  }
  constexpr int concat(int x, int y) {
    return add({.kind = ago::op::concat, .out = with_channels(x, shape_of(x).c + shape_of(y).c)}, {x, y});
  }
  /// Two concatenated branches, and a pointwise that mixes them.
  constexpr int shuffle_unit(int x) {
    int const left = bias_relu(pointwise(unary(ago::op::bias, depthwise(x)), 48));
    int const right = unary(ago::op::bias, depthwise(bias_relu(pointwise(x, 48))));
    return bias_relu(pointwise(concat(left, bias_relu(pointwise(right, 48))), 96));
  }
  constexpr void output(int x) { g.outputs[g.output_count++] = x; }

  constexpr int bias_relu(int x) { return unary(ago::op::relu6, unary(ago::op::bias, x)); }
  /// pointwise, bias, relu6, depthwise, bias, relu6, pointwise, bias, add: nine operators.
  constexpr int inverted_residual(int x, int expand) {
    int const c = shape_of(x).c;
    int y = bias_relu(pointwise(x, expand * c));
    y = bias_relu(depthwise(y));
    return binary(ago::op::add, x, unary(ago::op::bias, pointwise(y, c)));
  }
};

/// A sequence of blocks after an input, until there are `nodes` nodes.
template <class Builder, class Block>
constexpr auto grown(ago::shape image, int nodes, Block block) {
  Builder b;
  int x = b.input(image);
  while (b.g.node_count < nodes) x = block(b, x);
  b.output(x);
  return b.g;
}

/// Nodes with weights, in thousandths, and operands.
template <int V, int E>
constexpr ago::partition::dag<V, E> make_dag(std::initializer_list<long> weights,
                                             std::initializer_list<std::initializer_list<int>> sources) {
  ago::partition::dag<V, E> d;
  for (long w : weights) d.weight[d.count++] = w;
  int v = 0, edges = 0;
  for (auto const& operands : sources) {
    for (int u : operands) d.source[edges++] = u;
    d.first[++v] = edges;
  }
  return d;
}

using random = std::mt19937;
inline int pick(random& r, int low, int high) { return low + int(r() % unsigned(high - low + 1)); }

using random_dag = ago::partition::dag<150, 450>;

/// Chains, wide and dense graphs, several roots and components, repeated operands, in execution order or not.
inline random_dag make_random_dag(random& r, int nodes) {
  int const reach[] = {1, 3, 12, nodes}, window = reach[pick(r, 0, 3)], dense = pick(r, 1, 3), roots = pick(r, 0, 8);
  long const heaviest[] = {1, 2, 5, 1000}, top = heaviest[pick(r, 0, 3)];
  std::vector<std::vector<int>> sources(nodes);
  for (int v = 1; v < nodes; ++v)
    for (int k = pick(r, 0, 9) < roots / 2 ? 0 : pick(r, 1, dense); k > 0; --k)
      sources[v].push_back(pick(r, std::max(0, v - window), v - 1));
  std::vector<int> number(nodes);
  std::iota(number.begin(), number.end(), 0);
  if (pick(r, 0, 1)) std::shuffle(number.begin(), number.end(), r);
  std::vector<int> node(nodes);
  for (int v = 0; v < nodes; ++v) node[number[v]] = v;
  random_dag d;
  d.count = nodes;
  int edges = 0;
  for (int i = 0; i < nodes; ++i) {
    d.weight[i] = pick(r, 1, int(top));
    d.complex[i] = pick(r, 0, 2) == 0;
    for (int u : sources[node[i]]) d.source[edges++] = number[u];
    d.first[i + 1] = edges;
  }
  return d;
}

/// Limits under which nothing, little, much, or everything fits.
inline long random_limit(random& r, random_dag const& d) {
  long const sum = std::accumulate(d.weight, d.weight + d.count, 0L),
             top = *std::max_element(d.weight, d.weight + d.count);
  long const limits[] = {top, 2 * top + 1, 4 * top + 1, 1 + sum / 3, sum / 2, sum + 1};
  return limits[pick(r, 0, 5)];
}

}  // namespace test
