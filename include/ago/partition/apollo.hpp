// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apollo's partitioner: aggregation by rules, memory stitching, parallelism stitching (Zhao et al., MLSys 2022).
#pragma once

#include <ago/graph/opening.hpp>
#include <ago/partition/contraction.hpp>
#include <ago/partition/device.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/pattern.hpp>

namespace ago {

/// Apollo sees compound operators opened (opened.hpp). Compound operators that stay closed, and global pooling, are
/// single reductions, so they absorb what precedes them, and their followers. Apollo has no rules for data movement and
/// windowed pooling. Operands known at compile time do not count, so a bias is elementwise.
constexpr pattern apollo_pattern_of(op kind) {
  switch (class_of(kind)) {
    case op_class::convolution:
    case op_class::matrix_product:
    case op_class::value_product: return pattern::fusable_out;
    case op_class::parametric:
    case op_class::arithmetic:
    case op_class::function:
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power:
    case op_class::identity: return pattern::elementwise;
    case op_class::norm:
    case op_class::reduction:
    case op_class::global_pool: return pattern::reduction;
    case op_class::window_pool:
    case op_class::input:
    case op_class::constant:
    case op_class::movement:
    case op_class::concat:
    case op_class::pad:
    case op_class::expand:
    case op_class::layout:
    case op_class::resize:
    case op_class::embedding: return pattern::opaque;
  }
  detail::no_case_for_this_value();
}

/// The operators, numbered in execution order, as Apollo sees them.
template <int V, int E>
struct apollo_graph {
  dag<V, E> operators;
  pattern kind[slots<V>]{};
  bool same_size[slots<E>]{};  ///< does the operand have the shape of the reader's result?
  bool restores[slots<E>]{};   ///< does the reader's result have the shape of the operand's own operand?
  long bytes[slots<V>]{};      ///< of result and weights
};

/// `operators`: the operators of `g`.
template <int V, int E, int O>
constexpr apollo_graph<V, E> apollo_graph_of(graph<V, E, O> const& g, dag<V, E> const& operators) {
  apollo_graph<V, E> r;
  r.operators = operators;
  int edges = 0;
  for (int v = g.input_count, i = 0; v < g.node_count; ++v, ++i) {
    node const& n = g.nodes[v];
    r.kind[i] = apollo_pattern_of(n.kind);
    r.bytes[i] = 4 * n.out.count() + weight_bytes(g, v);
    for (int k = 0; k < n.input_count; ++k) {
      int const u = g.operand(v, k);
      if (u < g.input_count) continue;
      r.same_size[edges] = g.nodes[u].out == n.out;
      r.restores[edges++] = g.source(u).out == n.out;
    }
  }
  return r;
}

namespace detail {

template <int V, int E>
struct aggregator {
  apollo_graph<V, E> const& g;
  contraction<V, E> c;
  pattern kind[slots<V>]{};
  long bytes[slots<V>]{};
  int sweep[slots<V>]{}, sweeps{};

  constexpr explicit aggregator(apollo_graph<V, E> const& graph) : g(graph), c(graph.operators) {
    for (int v = 0; v < g.operators.count; ++v) {
      kind[v] = g.kind[v];
      bytes[v] = g.bytes[v];
    }
  }

  constexpr void merge(int a, int b) {
    c.absorb(a, b);
    kind[a] = kind[a] > kind[b] ? kind[a] : kind[b];
    bytes[a] += bytes[b];
  }

  /// Contracts every edge e, from group a to group b and read by operator v, for which `rule(a, b, e, v)` holds and no
  /// cycle arises; repeats until no such edge is left. A group that has grown waits for the next round.
  constexpr void apply(auto const& rule) {
    for (bool again = true; again;) {
      again = false;
      ++sweeps;
      for (int v = 0; v < g.operators.count; ++v)
        for (int e = g.operators.first[v]; e < g.operators.first[v + 1]; ++e) {
          int const a = c.find(g.operators.source[e]), b = c.find(v);
          if (a == b || sweep[a] == sweeps || !rule(a, b, e, v) || c.has_detour(a, b)) continue;
          merge(a, b);
          sweep[a] = sweeps;
          again = true;
        }
    }
  }

  /// Table 1, all rules in order.
  constexpr void aggregate() {
    constexpr pattern elementwise = pattern::elementwise, product = pattern::fusable_out;
    apply([&](int a, int b, int e, int) {
      return kind[a] == elementwise && kind[b] == elementwise && g.same_size[e];
    });
    apply([&](int a, int b, int e, int v) {
      return kind[a] == elementwise && kind[b] == pattern::reduction &&
             (g.kind[v] == pattern::reduction || g.same_size[e]);
    });
    apply([&](int a, int b, int e, int v) {
      if (kind[a] == product) return kind[b] == elementwise && g.same_size[e];
      return kind[a] == elementwise && kind[b] == product && (g.kind[v] == product || g.same_size[e]);
    });
  }

  /// Table 2: a reduction, and operators on its result that have the size of the reduction's operand.
  constexpr void stitch_memory() {
    apply([&](int a, int b, int e, int) {
      return kind[a] == pattern::reduction && (kind[b] == pattern::elementwise || kind[b] == pattern::reduction) &&
             g.kind[g.operators.source[e]] == pattern::reduction && g.restores[e];
    });
  }

  constexpr bool independent(int a, int b) {
    if (c.label[a] > c.label[b]) return independent(b, a);
    for (int e = c.outs[a]; e >= 0; e = c.out_next[e])
      if (c.to[e] == b) return false;
    return !c.has_detour(a, b);
  }

  /// The groups that read a value of p's group, such that none of them leads to another.
  constexpr int branches(int p, int* list) {
    int n = 0;
    for (int e = c.outs[p]; e >= 0; e = c.out_next[e]) {
      int const b = c.to[e];
      bool joins = kind[b] != pattern::opaque;
      for (int i = 0; i < n && joins; ++i) joins = list[i] != b && independent(list[i], b);
      if (joins) list[n++] = b;
    }
    return n;
  }

  /// Eq. (3): the gain of branches side by side is the sum of their costs minus the largest. It is never negative, so
  /// the resource decides: what the branches hold together must fit `limit` bytes.
  constexpr bool pays(int const* list, int n, long limit) const {
    long sum = 0, largest = 0, held = 0;
    for (int i = 0; i < n; ++i) {
      sum += c.weight[list[i]];
      largest = c.weight[list[i]] > largest ? c.weight[list[i]] : largest;
      held += bytes[list[i]];
    }
    return sum - largest > 0 && held <= limit;
  }

  /// Algorithm 3: stitches the branches after each group, in execution order: all if that pays, otherwise as many as
  /// pay.
  constexpr void stitch_parallel(long limit) {
    int list[slots<V>]{};
    for (int v = 0; v < g.operators.count; ++v) {
      if (c.parent[v] >= 0) continue;
      int const n = branches(v, list);
      for (int first = 0, k = n; first + 1 < n; k = n - first) {
        while (k > 1 && !pays(list + first, k, limit)) --k;
        for (int i = 1; i < k; ++i) merge(list[first], list[first + i]);
        first += k;
      }
    }
  }
};

}  // namespace detail

/// Groups of operators after each of Apollo's layers; the groups of each layer are unions of those before.
template <int V>
struct apollo_groups {
  grouping<V> aggregated, stitched, parallel;
};

/// `limit`: bytes that parallel branches may hold together.
template <int V, int E>
constexpr apollo_groups<V> apollo(apollo_graph<V, E> const& g, long limit) {
  detail::aggregator<V, E> a(g);
  apollo_groups<V> r;
  a.aggregate();
  r.aggregated = a.c.groups(g.operators.count);
  a.stitch_memory();
  r.stitched = a.c.groups(g.operators.count);
  a.stitch_parallel(limit);
  r.parallel = a.c.groups(g.operators.count);
  return r;
}

/// Apollo as a policy: subgraphs are the groups after all layers; mini-subgraphs are the groups without parallel
/// branches, because no kernel computes branches side by side. What branches hold together must fit L2.
template <int V, int E, int O>
constexpr partitions<V> apollo_partition(graph<V, E, O> const& g, device const& on = {}) {
  apollo_graph<V, E> const a = apollo_graph_of(g, dag_of(g));
  apollo_groups<V> const groups = apollo(a, on.l2_bytes);
  partitions<V> r = ordered(g, a.operators, groups.parallel, groups.stitched);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = r.minis.of[v];
  r.intensive = false;
  return r;
}

/// Apollo's policy. It opens all compound operators.
struct apollo_policy {
  static constexpr char const* name = "apollo";
  static constexpr opening opens{};
  static constexpr auto partition(auto const& g, device const& on) { return apollo_partition(g, on); }
};

}  // namespace ago
