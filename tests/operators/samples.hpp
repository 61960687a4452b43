// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sample of each operator, with ordinary extents that differ from one another.
#pragma once

#include <ago/expression/notation.hpp>
#include <ago/ir/graph.hpp>

namespace operators_test {

namespace detail {

using namespace ago::expression;

constexpr definition product_of_triples = compute("product", [](operand x, operand y) {
  var n, h, i, j, k;
  return result(n, h, i, j) = sum(k)(x(n, h, i, k) * y(n, h, j, k));
})(extents(2, 6, 8, 4), extents(2, 6, 8, 4));
constexpr definition triangle = compute("triangle", [](operand x) {
  var n, h, w, c;
  return result(n, h, w, c) = select(w >= c, x(n, h, w, c), 0);
})(extents(2, 6, 8, 4));

}  // namespace detail

/// A graph of inputs and, as its last node, an operator.
using sample = ago::ir::graph<4, 4>;

constexpr sample sample_of(ago::op kind) {
  using ago::op;
  using ago::ir::op_class;
  ago::ir::window const image{.kernel_h = 3, .kernel_w = 2, .stride_h = 2, .pad_top = 1};
  ago::ir::patch const patch{2, 2};
  ago::shape const whole{2, 6, 8, 4}, pooled{2, 3, 7, 4};
  ago::shape in[2]{whole, whole};
  ago::ir::node n{.kind = kind, .out = whole, .input_count = 1};
  switch (class_of(kind)) {
    case op_class::input: n.input_count = 0; break;
    case op_class::constant: n.weight = 0; break;
    case op_class::convolution:
      n.win = image;
      n.out = pooled;
      if (kind == op::conv2d) n.out.c = 10;
      n.weight = 0;
      break;
    case op_class::matrix_product:
      n.out.c = 7;
      n.weight = 0;
      break;
    case op_class::value_product:
      n.input_count = 2;
      if (kind == op::matmul) {
        in[1] = {2, 6, 4, 5};
        n.out.c = 5;
        n.alpha = 1;
      } else {
        n.groups = 2;
        n.patch = patch;
        n.alpha = .5f;
        if (kind == op::attention_scores) n.out = {8, 2, 12, 12};
        else in[0] = {8, 2, 12, 12};
      }
      break;
    case op_class::contraction:
      n.described = &detail::product_of_triples.expressions[0];
      n.out.c = 8;
      n.input_count = 2;
      break;
    case op_class::nest: n.described = &detail::triangle.expressions[0]; break;
    case op_class::parametric:
      n.alpha = 1e-5f;
      (kind == op::bias ? n.shift : kind == op::batch_norm ? n.norm : n.weight) = 0;
      n.entries = 4;
      break;
    case op_class::arithmetic:
    case op_class::function:
      n.alpha = -.5f;
      n.beta = .5f;
      break;
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power:
      n.input_count = 2;
      in[1] = {2, 1, 1, 4};
      break;
    case op_class::window_pool:
      n.win = image;
      n.out = pooled;
      break;
    case op_class::global_pool: n.out = {2, 1, 1, 4}; break;
    case op_class::norm:
      n.alpha = 1e-5f;
      n.weight = 0;
      n.shift = 4;
      break;
    case op_class::reduction: n.out.c = 1; break;
    case op_class::movement:
      if (kind == op::slice) n.axis = 2, n.begin = 1, n.step = 2, n.out.w = 3;
      else if (kind == op::channel_shuffle) n.groups = 2;
      else if (kind == op::reshape) n.out = {2, 1, 48, 4};
      else if (kind == op::permute) n.order[1] = 2, n.order[2] = 1, n.out = {2, 8, 6, 4};
      else n.patch = patch;
      if (kind == op::unfold) n.out = {8, 1, 12, 4};
      if (kind == op::fold) in[0] = {8, 1, 12, 4};
      break;
    case op_class::concat:
      n.input_count = 2;
      n.out.c = 8;
      break;
    case op_class::pad:
      n.win = {.pad_top = 1, .pad_left = 1, .pad_bottom = 1};
      n.out = {2, 8, 9, 4};
      break;
    case op_class::expand: in[0] = {2, 1, 1, 4}; break;
    case op_class::resize: n.out = {2, 12, 16, 4}; break;
    case op_class::embedding:
      in[0].c = 1;
      n.entries = 9;
      n.weight = 0;
      break;
    case op_class::layout:
    case op_class::identity: break;
  }
  sample g;
  g.input_count = n.input_count > 1 ? 2 : 1;
  for (int k = 0; k < g.input_count; ++k) {
    g.nodes[k].out = in[k];
    g.edges[k] = k;
  }
  g.edge_count = g.input_count;
  g.node_count = g.input_count + 1;
  g.nodes[g.input_count] = n;
  return g;
}

}  // namespace operators_test
