// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of operators, for policies that fuse by pattern.
#pragma once

#include <ago/partition/dag.hpp>

namespace ago::partition {

/// How the elements of a result depend on those of the operands, from the simplest to the most complex way.
enum class pattern : std::uint8_t {
  elementwise,  ///< element i of element i
  broadcast,    ///< likewise, but an operand serves several elements
  injective,    ///< each element of one element, at another place
  reduction,    ///< of many elements
  fusable_out,  ///< of many elements, but elementwise operators may follow in the same loops
  opaque,       ///< nothing is known
};

/// TVM's classification. In TVM, batch norms and biases are additions and products with constants; pooling accepts
/// elementwise operators; softmax and layer norms are opaque.
constexpr pattern pattern_of(op kind) {
  switch (class_of(kind)) {
    case op_class::convolution:
    case op_class::matrix_product:
    case op_class::value_product:
    case op_class::contraction:
    case op_class::window_pool:
    case op_class::global_pool: return pattern::fusable_out;
    case op_class::reduction: return pattern::reduction;
    case op_class::parametric:
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power: return pattern::broadcast;
    case op_class::arithmetic:
    case op_class::function:
    case op_class::identity: return pattern::elementwise;
    case op_class::movement:
    case op_class::concat:
    case op_class::pad:
    case op_class::expand:
    case op_class::layout:
    case op_class::resize:
    case op_class::embedding: return pattern::injective;
    case op_class::input:
    case op_class::constant:
    case op_class::norm:
    case op_class::nest: return pattern::opaque;
  }
  ir::no_case_for_this_value();
}

/// The number of constants that an operator reads: weights, shifts, scales.
constexpr int constants_of(op kind) {
  if (kind == op::batch_norm || kind == op::layer_norm) return 2;
  return has_weights(kind) || is_parametric(kind) || kind == op::embedding;
}

/// The operators, numbered in execution order, as patterns.
template <int V, int E>
struct pattern_graph {
  dag<V, E> operators;
  array_of<pattern, slots<V>> kind{};
  array_of<pattern, slots<E>> edge{};   ///< how the reader uses the operand operators.source[e]
  array_of<bool, slots<V>> tuple{};     ///< reads its operands as a tuple: concatenation
  array_of<bool, slots<V>> kept{};      ///< a network output
  array_of<int, slots<V>> constants{};  ///< number of constants and network inputs read
};

/// `operators`: the operators of `g`. A broadcast operand that has the shape of the result is read element by element.
template <int V, int E, int O>
constexpr pattern_graph<V, E> patterns_of(graph<V, E, O> const& g, dag<V, E> const& operators) {
  pattern_graph<V, E> r;
  r.operators = operators;
  int edges = 0;
  for (int v = g.input_count, i = 0; v < g.node_count; ++v, ++i) {
    node const& n = g.nodes[v];
    r.kind[i] = pattern_of(n.kind);
    r.tuple[i] = n.kind == op::concat;
    r.constants[i] = constants_of(n.kind);
    for (int k = 0; k < n.input_count; ++k) {
      if (g.operand(v, k) < g.input_count) {
        ++r.constants[i];
        continue;
      }
      bool const same = g.source(v, k).out == n.out;
      r.edge[edges++] = same && r.kind[i] == pattern::broadcast ? pattern::elementwise : r.kind[i];
    }
  }
  for (int o = 0; o < g.output_count; ++o)
    if (g.outputs[o] >= g.input_count) r.kept[g.outputs[o] - g.input_count] = true;
  return r;
}

}  // namespace ago::partition
