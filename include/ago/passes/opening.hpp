// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens compound operators into the primitives that other compilers' graphs consist of.
#pragma once

#include <ago/ir/functions.hpp>
#include <ago/passes/rewriting.hpp>

namespace ago::passes {

/// The compound operators that are opened.
struct opening {
  bool softmax = true;      ///< maximum, difference, exp, sum, quotient
  bool layer_norm = true;   ///< mean, difference, square, mean, inverse root, product, scale, bias
  bool activations = true;  ///< gelu, silu, hard swish: the function of x, times x
};

/// The number of primitives that an operator becomes; 1: it is not opened.
constexpr int primitives_of(op kind, opening const& o) {
  switch (kind) {
    case op::softmax: return o.softmax ? 5 : 1;
    case op::layer_norm: return o.layer_norm ? 8 : 1;
    case op::gelu:
    case op::gelu_tanh: return o.activations ? 4 : 1;
    case op::silu:
    case op::hard_swish: return o.activations ? 2 : 1;
    default: return 1;
  }
}

/// A graph with opened operators. `V`, `E`: capacities.
template <int V, int E, int O>
struct opened_graph {
  ago::ir::graph<V, E, O> graph;
  array_of<int, V> compound{};  ///< the node of the original graph that each node belongs to
};

/// At least as many nodes and edges as the opened graph has.
constexpr graph_size size_of_opened(graph_view g, opening const& o) {
  graph_size r{g.node_count, g.edge_count};
  for (int v = g.input_count; v < g.node_count; ++v) {
    int const more = primitives_of(g.nodes[v].kind, o) - 1;
    r.nodes += more;
    r.edges += 2 * more;  // a primitive reads at most two values
  }
  return r;
}

template <int V, int E, int O>
struct opener {
  opened_graph<V, E, O>& to;
  node compound{};  ///< the node being opened
  int number{};     ///< its number in the original graph

  /// Appends a node that reads `a`, and `b` unless it is -1.
  constexpr int append(node n, int a, int b = -1) {
    graph<V, E, O>& g = to.graph;
    n.input_first = g.edge_count;
    n.input_count = b < 0 ? 1 : 2;
    n.layer = compound.layer;
    n.line = compound.line;
    n.name = compound.name;
    g.edges[g.edge_count++] = a;
    if (b >= 0) g.edges[g.edge_count++] = b;
    to.compound[g.node_count] = number;
    g.nodes[g.node_count] = n;
    return g.node_count++;
  }
  /// With the shape of the compound operator.
  constexpr int append(op kind, int a, int b = -1) { return append({.kind = kind, .out = compound.out}, a, b); }
  template <class F>
  constexpr int apply(F const&, char const* name, int x, float alpha = 0, float beta = 0) {
    node n{.kind = op::map, .out = to.graph.nodes[x].out, .alpha = alpha, .beta = beta};
    n.function = &user_map<F>;
    n.function_name = name;
    return append(n, x);
  }
  /// A reduction over the channels of each pixel.
  constexpr int reduce(op kind, int x) {
    shape const out{compound.out.n, compound.out.h, compound.out.w, 1};
    return append({.kind = kind, .out = out}, x);
  }

  constexpr int softmax(int x) {
    int const e = apply(exponential_function, "exponential", append(op::sub, x, reduce(op::reduce_max, x)));
    return append(op::div, e, reduce(op::reduce_sum, e));
  }
  constexpr int layer_norm(int x) {
    int const centred = append(op::sub, x, reduce(op::reduce_mean, x));
    int const variance = reduce(op::reduce_mean, apply(squared, "square", centred));
    int const factor = apply(reciprocal_root_above, "reciprocal_root", variance, compound.alpha);
    int const normal = append(op::mul, centred, factor);
    int const scaled = append({.kind = op::scale, .out = compound.out, .weight = compound.weight}, normal);
    return append({.kind = op::bias, .out = compound.out, .shift = compound.shift}, scaled);
  }
  constexpr int gelu(int x) {
    int const e = apply(error_function_of, "error_function", apply(affine_function, "affine", x, .70710678f));
    return append(op::mul, x, apply(affine_function, "affine", e, .5f, .5f));
  }
  constexpr int gelu_tanh(int x) {
    int const t = append(op::tanh, apply(gelu_inner, "gelu_inner", x, .79788456f, .79788456f * .044715f));
    return append(op::mul, x, apply(affine_function, "affine", t, .5f, .5f));
  }

  /// Appends the primitives of the compound operator, and returns the last one.
  constexpr int open(int x) {
    switch (compound.kind) {
      case op::softmax: return softmax(x);
      case op::layer_norm: return layer_norm(x);
      case op::gelu: return gelu(x);
      case op::gelu_tanh: return gelu_tanh(x);
      case op::silu: return append(op::mul, x, append(op::sigmoid, x));
      case op::hard_swish: return append(op::mul, x, append(op::hard_sigmoid, x));
      default: no_case_for_this_value();
    }
  }
};

/// `g` with the compound operators of `o` opened; unless `which` is null, only those nodes v with which[v]. Values are
/// the same except for rounding. `V2`, `E2`: at least size_of_opened().
template <int V2, int E2, int V, int E, int O>
constexpr opened_graph<V2, E2, O> opened(graph<V, E, O> const& g, opening const& o, bool const* which = nullptr) {
  opened_graph<V2, E2, O> r;
  opener<V2, E2, O> opener{r};
  array_of<int, V> moved_to{};
  for (int v = 0; v < g.node_count; ++v) {
    node n = g.nodes[v];
    if (primitives_of(n.kind, o) > 1 && (!which || which[v])) {
      opener.compound = n;
      opener.number = v;
      moved_to[v] = opener.open(moved_to[g.operand(v)]);
      continue;
    }
    n.input_first = r.graph.edge_count;
    for (int k = 0; k < n.input_count; ++k) r.graph.edges[r.graph.edge_count++] = moved_to[g.operand(v, k)];
    moved_to[v] = r.graph.node_count;
    r.compound[r.graph.node_count] = v;
    r.graph.nodes[r.graph.node_count++] = n;
  }
  finish_copy(r.graph, g, moved_to);
  return r;
}

}  // namespace ago::passes
