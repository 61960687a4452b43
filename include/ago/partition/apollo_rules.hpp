// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as Apollo sees it, and the rules of its tables (Zhao et al., MLSys 2022).
#pragma once

#include <ago/partition/dag.hpp>

namespace ago::partition {

/// The types of operators and of groups (section 3.3, Definitions 1 to 4). The rules name transpositions, matrix
/// products and convolutions, which are opaque by definition.
enum class apollo_type : std::uint8_t { elementwise, broadcast, reduction, transpose, matmul, conv, opaque };

/// The canonical forms of reductions (section 4.2): over everything, over the outer or the inner dimensions of a nest
/// of two loops. `none`: it has none of them.
enum class reduce_form : std::uint8_t { none, all, outer, inner };

/// Gp, a producer, and Gc, one of its consumers, become Ga.
struct apollo_rule {
  int number;
  apollo_type p, c, a;
};
/// A set of rules, by their places in the two tables, one after the other.
using apollo_rule_set = std::uint16_t;
/// Table 1. Rules that follow one another with the same number and result have equal priority.
inline constexpr apollo_rule aggregation_rules[] = {
    {1, apollo_type::elementwise, apollo_type::elementwise, apollo_type::elementwise},
    {2, apollo_type::broadcast, apollo_type::elementwise, apollo_type::broadcast},
    {3, apollo_type::broadcast, apollo_type::broadcast, apollo_type::broadcast},
    {4, apollo_type::elementwise, apollo_type::reduction, apollo_type::reduction},
    {5, apollo_type::broadcast, apollo_type::reduction, apollo_type::reduction},
    {6, apollo_type::elementwise, apollo_type::transpose, apollo_type::transpose},
    {6, apollo_type::broadcast, apollo_type::transpose, apollo_type::transpose},
    {6, apollo_type::matmul, apollo_type::elementwise, apollo_type::matmul},
    {6, apollo_type::elementwise, apollo_type::matmul, apollo_type::matmul},
    {6, apollo_type::conv, apollo_type::elementwise, apollo_type::conv},
    {6, apollo_type::elementwise, apollo_type::conv, apollo_type::conv},
};
/// Table 2.
inline constexpr apollo_rule stitching_rules[] = {
    {7, apollo_type::reduction, apollo_type::elementwise, apollo_type::reduction},
    {7, apollo_type::reduction, apollo_type::broadcast, apollo_type::reduction},
    {8, apollo_type::reduction, apollo_type::reduction, apollo_type::reduction},
};

/// The number of rules of a table.
template <int N>
constexpr int rules_in(apollo_rule const (&)[N]) {
  return N;
}

/// The type of an operator of these operands. Apollo sees compound operators opened (opened.hpp); those that stay
/// closed are reductions. Operands known at compile time do not count, so a bias is elementwise.
constexpr apollo_type apollo_type_of(graph_view g, int v) {
  node const& n = g.nodes[v];
  switch (class_of(n.kind)) {
    case op_class::convolution: return apollo_type::conv;
    case op_class::matrix_product: return n.kind == op::pointwise ? apollo_type::conv : apollo_type::matmul;
    case op_class::value_product:
    case op_class::contraction: return apollo_type::matmul;
    case op_class::parametric:
    case op_class::arithmetic:
    case op_class::function:
    case op_class::identity: return apollo_type::elementwise;
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power:
      for (int k = 0; k < n.input_count; ++k)
        if (node const& operand = g.source(v, k); operand.kind != op::constant && operand.out != n.out)
          return apollo_type::broadcast;
      return apollo_type::elementwise;
    case op_class::expand: return g.source(v).out == n.out ? apollo_type::elementwise : apollo_type::broadcast;
    case op_class::reduction:
    case op_class::global_pool: return g.source(v).out == n.out ? apollo_type::elementwise : apollo_type::reduction;
    case op_class::norm: return apollo_type::reduction;
    case op_class::layout: return apollo_type::transpose;
    case op_class::movement: return n.kind == op::permute ? apollo_type::transpose : apollo_type::opaque;
    case op_class::window_pool:
    case op_class::input:
    case op_class::constant:
    case op_class::concat:
    case op_class::pad:
    case op_class::resize:
    case op_class::embedding:
    case op_class::nest: return apollo_type::opaque;
  }
  no_case_for_this_value();
}

/// The form of a reduction of `from` to `to`, in which reduced dimensions have one element. Dimensions of one element
/// in `from` do not count.
constexpr reduce_form form_of(shape const& from, shape const& to) {
  int const before[] = {from.n, from.h, from.w, from.c}, after[] = {to.n, to.h, to.w, to.c};
  int changes = 0, reduced = 0, kept = 0;
  bool last = false;
  for (int k = 0; k < 4; ++k) {
    if (before[k] == 1) continue;
    bool const here = after[k] == 1;
    changes += reduced + kept > 0 && here != last;
    last = here;
    ++(here ? reduced : kept);
  }
  if (reduced == 0 || changes > 1) return reduce_form::none;
  return kept == 0 ? reduce_form::all : last ? reduce_form::inner : reduce_form::outer;
}

/// The operators, numbered in execution order, as Apollo sees them.
template <int V, int E>
struct apollo_graph {
  dag<V, E> operators;
  array_of<apollo_type, slots<V>> type{};
  array_of<shape, slots<V>> loops{};       ///< the loop nest: of what it computes, or of what it reduces
  array_of<reduce_form, slots<V>> form{};  ///< of a reduction
  array_of<long, slots<V>> bytes{};        ///< of result and weights
  array_of<int, slots<V>> input{};         ///< the first input of the network that it reads, counted from 1; 0: none
};

/// `operators`: the operators of `g`.
template <int V, int E, int O>
constexpr apollo_graph<V, E> apollo_graph_of(graph<V, E, O> const& g, dag<V, E> const& operators) {
  apollo_graph<V, E> r;
  r.operators = operators;
  for (int v = g.input_count, i = 0; v < g.node_count; ++v, ++i) {
    node const& n = g.nodes[v];
    r.type[i] = apollo_type_of(g, v);
    r.loops[i] = n.out;
    if (r.type[i] == apollo_type::reduction) {
      r.loops[i] = g.source(v).out;
      bool const of_channels = class_of(n.kind) == op_class::norm;  // closed
      shape const reduced{n.out.n, n.out.h, n.out.w, of_channels ? 1 : n.out.c};
      r.form[i] = form_of(r.loops[i], reduced);
    }
    r.bytes[i] = 4 * n.out.count() + weight_bytes(g, v);
    for (int k = n.input_count - 1; k >= 0; --k)
      if (int const u = g.operand(v, k); u < g.input_count) r.input[i] = u + 1;
  }
  return r;
}

}  // namespace ago::partition
