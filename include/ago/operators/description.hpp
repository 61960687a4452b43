// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operator of a graph as index expressions.
#pragma once

#include <ago/operators/operators.hpp>

namespace ago::described {

/// The most operands of a described operator.
inline constexpr int max_operands = 16;

/// The result of node n, an operand of nothing if it has no description; `x`: its operands.
constexpr operand value_of(node const& n, operand const* x, parameters const& parameter) {
  // clang-format off
  switch (n.kind) {
    case op::input:
    case op::contraction:  // these have their expression
    case op::nest: return {};
    case op::conv2d:
    case op::depthwise:
    case op::pointwise: return convolution(n, x[0], parameter);
    case op::linear: return linear(n, x[0], parameter);
    case op::matmul: return matmul(n, x[0], x[1]);
    case op::attention_scores: return attention_scores(n, x[0], x[1]);
    case op::attention_values: return attention_values(n, x[0], x[1]);
    case op::bias: return bias(n, x[0], parameter);
    case op::batch_norm: return batch_norm(n, x[0], parameter);
    case op::positions: return positions(n, x[0], parameter);
    case op::scale: return scale(x[0], parameter);
    case op::prelu: return prelu(n, x[0], parameter);
    case op::identity: case op::relu: case op::relu6: case op::leaky_relu: case op::clip: case op::hard_sigmoid:
    case op::hard_swish: case op::sigmoid: case op::silu: case op::gelu: case op::gelu_tanh: case op::tanh:
    case op::map: return unary(n, x[0]);
    case op::add: case op::mul: case op::sub: case op::div: case op::maximum: case op::minimum: case op::less:
    case op::power: return binary(n, x[0], x[1]);
    case op::max_pool:
    case op::avg_pool: return window_pool(n, x[0]);
    case op::global_max_pool:
    case op::global_avg_pool: return global_pool(n, x[0]);
    case op::softmax: return softmax(x[0]);
    case op::layer_norm: return layer_norm(n, x[0], parameter);
    case op::reduce_sum: case op::reduce_mean: case op::reduce_max: case op::reduce_min:
    case op::reduce_product: return reduction(n, x[0]);
    case op::arg_max: return arg_max(n, x[0]);
    case op::concat: return concat(n, x);
    case op::slice: return slice(n, x[0]);
    case op::channel_shuffle: return channel_shuffle(n, x[0]);
    case op::reshape: return reshape(n, x[0]);
    case op::permute: return permute(n, x[0]);
    case op::unfold: return unfolded(n, x[0]);
    case op::fold: return folded(n, x[0]);
    case op::pad: return pad(n, x[0]);
    case op::expand: return expand(n, x[0]);
    case op::resize_nearest:
    case op::resize_bilinear: return resize(n, x[0]);
    case op::embedding: return embedding(n, x[0], parameter);
    case op::constant: return constant(n, parameter);
    case op::from_nchw: return from_nchw(x[0]);
    case op::to_nchw: return to_nchw(x[0]);
  }
  // clang-format on
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
