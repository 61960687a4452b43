// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random operator graphs for the planner's property tests. Shapes are small: memory is simulated float by float.
#pragma once

#include <ago/ir/graph.hpp>
#include <ago/partition/policy.hpp>

#include <random>

namespace plan_test {

using ago::op;
using test_graph = ago::ir::graph<40, 120, 4>;

class graph_maker {
 public:
  explicit graph_maker(unsigned seed) : random_(seed) {}

  /// Up to 40 operators: complex, elementwise, broadcast gates, pools, nested concats, slices and shuffles of channels,
  /// several inputs and outputs.
  test_graph make() {
    test_graph g{};
    g_ = &g;
    int const inputs = 1 + pick(3);
    for (int i = 0; i < inputs; ++i) add(op::input, {1 + pick(2), 1 + pick(3), 1 + pick(3), 1 + pick(6)}, {});
    g.input_count = inputs;
    int const size = inputs + 1 + pick(36);
    while (g.node_count < size && g.edge_count < 110) add_operator();
    g.output_count = 1 + pick(4);
    g.outputs[0] = g.node_count - 1;
    for (int o = 1; o < g.output_count; ++o) g.outputs[o] = pick(g.node_count);
    return g;
  }
  int pick(int n) { return int(random_() % unsigned(n)); }

 private:
  int add(op kind, ago::shape out, std::initializer_list<int> operands) {
    ago::ir::node& n = g_->nodes[g_->node_count];
    n.kind = kind;
    n.out = out;
    n.input_first = g_->edge_count;
    n.input_count = int(operands.size());
    for (int u : operands) g_->edges[g_->edge_count++] = u;
    return g_->node_count++;
  }
  /// A value, usually a recent one, so that chains form.
  int value() {
    return pick(3) ? g_->node_count - 1 - pick(g_->node_count < 3 ? g_->node_count : 3) : pick(g_->node_count);
  }
  int with_shape(ago::shape s, int fallback) {
    for (int tries = 0; tries < 20; ++tries)
      if (int const v = pick(g_->node_count); g_->nodes[v].out == s) return v;
    return fallback;
  }

  void add_unit(int x, ago::shape s) {
    s.c /= 2;
    int const left = add(op::slice, s, {x}), right = add(op::slice, s, {x});
    g_->nodes[right].begin = s.c;
    int const worked_on = add(pick(3) ? op::pointwise : op::depthwise, s, {right});
    s.c *= 2;
    g_->nodes[add(op::channel_shuffle, s, {add(op::concat, s, {left, worked_on})})].groups = 2;
  }

  void add_operator() {
    int const x = value();
    ago::shape s = g_->nodes[x].out;
    switch (pick(16)) {
      case 12:
      case 13: {
        int const begin = pick(s.c), count = 1 + pick(s.c - begin);
        s.c = count;
        g_->nodes[add(op::slice, s, {x})].begin = begin;
        break;
      }
      case 14: {
        int groups = 1 + pick(s.c);
        while (s.c % groups) --groups;
        g_->nodes[add(op::channel_shuffle, s, {x})].groups = groups;
        break;
      }
      case 15: {  // as in ShuffleNet: split in halves, process one, concatenate
        if (s.c % 2 || g_->node_count > 34 || g_->edge_count > 100) break;
        add_unit(x, s);
        break;
      }
      case 0:
      case 1:
        s.c = 1 + pick(6);
        add(op::pointwise, s, {x});
        break;
      case 2: add(op::depthwise, s, {x}); break;
      case 3:
        s.c = 1 + pick(6);
        s.h = s.w = 1;
        add(op::conv2d, s, {x});
        break;
      case 6:
        if (pick(3) == 0) {  // may be an output or concatenated, like any other value
          add(op::constant, {1, 1, 1 + pick(3), 1 + pick(6)}, {0});
          break;
        }
        add(op::batch_norm, s, {x});
        break;
      case 4: add(pick(2) ? op::bias : pick(2) ? op::scale : op::prelu, s, {x}); break;
      case 5: add(op::relu, s, {x}); break;
      case 7:
      case 8: add(ago::op(int(op::add) + pick(8)), s, {x, with_shape(s, x)}); break;
      case 9: {
        int const gate = with_shape({s.n, 1, 1, s.c}, -1);
        if (gate >= 0) add(op::mul, s, {x, gate});
        else add(op::global_avg_pool, {s.n, 1, 1, s.c}, {x});
        break;
      }
      default: {
        int other[2];
        for (int& u : other) {
          u = x;
          for (int tries = 0; tries < 20; ++tries)
            if (int const v = pick(g_->node_count);
                g_->nodes[v].out.pixels() == s.pixels() && g_->nodes[v].out.h == s.h)
              u = v;
        }
        int const a = g_->nodes[other[0]].out.c, b = g_->nodes[other[1]].out.c;
        if (pick(2)) add(op::concat, {s.n, s.h, s.w, s.c + a}, {x, other[0]});
        else add(op::concat, {s.n, s.h, s.w, s.c + a + b}, {x, other[0], other[1]});
      }
    }
  }

  std::mt19937 random_;
  test_graph* g_{};
};

/// Any partition whose clusters are intervals of the recorded order: acyclic by construction.
inline ago::partition::ordered_clusters<40> intervals(test_graph const& g, graph_maker& random) {
  ago::partition::ordered_clusters<40> p{};
  for (int v = 0; v < g.input_count; ++v) p.of[v] = -1;
  int const mean = 1 + random.pick(8);
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (v > g.input_count && random.pick(mean) == 0) ++p.count;
    p.of[v] = p.count;
    p.order[p.operators++] = v;
  }
  ++p.count;
  p.acyclic = true;
  return p;
}

/// A random partition or, for every fifth seed, that of one of the policies.
inline ago::partition::ordered_clusters<40> any_partition(test_graph const& g, graph_maker& random, unsigned seed) {
  ago::policy const p{std::uint8_t(seed / 5 % ago::partition::policies)};
  return seed % 5 == 0 ? partition_by(p, g).minis : intervals(g, random);
}

}  // namespace plan_test
