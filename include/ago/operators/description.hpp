// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operator of a graph as index expressions.
#pragma once

#include <ago/operators/described/elementwise.hpp>
#include <ago/operators/described/movement.hpp>
#include <ago/operators/described/products.hpp>
#include <ago/operators/described/reductions.hpp>
#include <ago/operators/described/resizing.hpp>

namespace ago::described {

/// The most operands of a described operator.
inline constexpr int max_operands = 16;

/// The result of node n, an operand of nothing if it has no description; `x`: its operands.
constexpr operand value_of(node const& n, operand const* x, parameters const& parameter) {
  switch (class_of(n.kind)) {
    case op_class::input:
    case op_class::contraction:  // these have their expression
    case op_class::nest: return {};
    case op_class::constant: return constant(n, parameter);
    case op_class::convolution:
    case op_class::matrix_product: return convolution(n, x[0], parameter);
    case op_class::value_product:
      if (n.kind == op::matmul) return matmul(n, x[0], x[1]);
      return n.kind == op::attention_scores ? attention_scores(n, x[0], x[1]) : attention_values(n, x[0], x[1]);
    case op_class::parametric:
      switch (n.kind) {
        case op::bias: return bias(n, x[0], parameter);
        case op::batch_norm: return batch_norm(n, x[0], parameter);
        case op::scale: return scale(x[0], parameter);
        case op::prelu: return prelu(n, x[0], parameter);
        case op::positions: return positions(n, x[0], parameter);
        default: break;
      }
      break;
    case op_class::arithmetic:
    case op_class::function:
    case op_class::identity: return unary(n, x[0]);
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power: return binary(n, x[0], x[1]);
    case op_class::window_pool: return window_pool(n, x[0]);
    case op_class::global_pool: return global_pool(n, x[0]);
    case op_class::norm: return n.kind == op::softmax ? softmax(x[0]) : layer_norm(n, x[0], parameter);
    case op_class::reduction: return n.kind == op::arg_max ? arg_max(n, x[0]) : reduction(n, x[0]);
    case op_class::movement:
    case op_class::pad:
    case op_class::expand: return movement(n, x[0]);
    case op_class::layout: return n.kind == op::from_nchw ? from_nchw(x[0]) : to_nchw(x[0]);
    case op_class::resize: return resize(n, x[0]);
    case op_class::concat: return joined(x, n.input_count, n.axis);
    case op_class::embedding: return embedding(n, x[0], parameter);
  }
  no_case_for_this_value();
}

/// An operator by index expressions.
constexpr void describe_expression(description& to, node const& n, extents const* in) {
  expression::definition& d = to.as;
  for (int k = 0; k < n.input_count; ++k) d.values[k] = {.extents = in[k]};
  d.value_count = d.input_count = n.input_count;
  d.expressions[0] = *n.described;
  for (int k = 0, next = 0; k < n.described->operand_count; ++k) {
    if (k != n.weight_operand) {
      d.values[next].extents = n.described->operands[k];
      d.reads[0][k] = std::int16_t(next++);
      continue;
    }
    d.reads[0][k] = std::int16_t(d.value_count);
    d.values[d.value_count++] = {
        .role = expression::value_role::parameter, .extents = n.described->operands[k], .name = "weight"};
    to.parameters[to.parameter_count++] = n.weight;
  }
  d.values[d.value_count] = {.role = expression::value_role::computed, .extents = n.described->result, .made_by = 0};
  d.makes[0] = std::int16_t(d.value_count);
  d.results[0] = d.value_count++;
  d.expression_count = d.result_count = 1;
}

/// The result of an operator while it is recorded; false if there is none.
constexpr bool describe(description& to, node const& n, extents const* in) {
  expression::recorder r;
  operand x[max_operands]{};
  for (int k = 0; k < n.input_count; ++k) {
    extents const& s = in[k];
    bool const is_channel_first = n.kind == op::from_nchw;
    x[k] = {&r, r.add({.extents = is_channel_first ? extents(s[0], s[3], s[1], s[2]) : s}, 0)};
  }
  operand const made = value_of(n, x, parameters(n, expression::weights(r), to));
  bool const exists = made.in() == &r && r.made.bad.what == expression::fault::none;
  to.as = r.made;
  to.as.input_count = n.input_count;
  to.as.results[0] = made.value();
  to.as.result_count = 1;
  return exists;
}

/// The description of a node whose operands have the extents `in`, along four axes. It says what nodes compute that
/// passes have folded and merged, too.
constexpr description description_of(node const& n, expression::extents const* in) {
  description r;
  if (n.described) {
    described::describe_expression(r, n, in);
    r.exists = true;
  } else {
    r.exists = n.input_count <= described::max_operands && described::describe(r, n, in);
  }
  r.as.name = label_of(n);
  return r;
}
/// The description of operator v of a graph.
constexpr description description_of(graph_view g, int v) {
  node const& n = g.nodes[v];
  expression::extents in[described::max_operands]{};
  int const count = n.input_count < described::max_operands ? n.input_count : described::max_operands;
  for (int k = 0; k < count; ++k) in[k] = described::extents_of(g.source(v, k).out);
  return description_of(n, in);
}

}  // namespace ago::described
