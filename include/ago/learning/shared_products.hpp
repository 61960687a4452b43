// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products by one matrix, as those of the steps of a recurrent network. The sum of the gradients that they have for it
// is one product: of all their rows together.
#pragma once

#include <ago/learning/fragment.hpp>
#include <ago/learning/gradient_flow.hpp>
#include <ago/learning/slice_gradients.hpp>

namespace ago::learning {

/// The products of a network by matrices that several of one class have.
template <int V>
struct shared_products {
  int first[V]{};  ///< of each product whose matrix others have, too: the first one of them; of other operators 0
  int count[V]{};  ///< of a first one: of how many
};

template <int V, class Graph, int N>
constexpr shared_products<V> shared_products_of(gradient_flow<Graph, N> const& flow,
                                                operator_classes<V> const& classes) {
  shared_products<V> r;
  Graph const& g = flow.g;
  growing<int> firsts;
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (g.nodes[v].kind != op::matmul || g.source(v, 1).out.n * g.source(v, 1).out.h > 1) continue;
    if (!classes.flows[g.operand(v, 1)]) continue;
    auto const shares = [&](int u) {
      return g.operand(u, 1) == g.operand(v, 1) && classes.first[u] == classes.first[v];
    };
    int i = 0;
    while (i < firsts.size && !shares(firsts[i])) ++i;
    if (i == firsts.size) firsts.push(v);
    r.first[v] = firsts[i];
    ++r.count[firsts[i]];
  }
  for (int v = 0; v < V; ++v)
    if (r.count[r.first[v]] < 2) r.first[v] = 0;
  return r;
}

/// Of the first ones of them. Rows of a matrix are read in place where they are multiplied by numbers and added, so
/// that the matrix is turned once for all products by it, or for their gradients, which read it the other way.
template <int V>
struct shared_fragments {
  fragment of_matrix[V]{};  ///< the gradient of the matrix, for the rows of all
  fragment by_turned[V]{};  ///< the product, if node::transposed, or the gradient of its rows, by the turned matrix
};

/// The rows of several matrices, one after the other, {1, 1, rows, channels}.
constexpr tensor stacked(growing<tensor>& matrices, int rows, int channels) {
  tracing::recording r(matrices[0]);
  for (int k = 0; k < matrices.size; ++k) {
    tensor& x = matrices[k];
    x = recognition::before_views(x);
    shape const s = k == 0 ? x.dims() : matrices[0].dims();
    x = r.reshaped(x, s.c == channels ? s : shape{1, 1, rows, channels});
  }
  shape whole = matrices[0].dims();
  int axis = 0;
  while (axis < 2 && extent_along(whole, axis) == 1) ++axis;
  growing<value_part> parts;
  for (int k = 0; k < matrices.size; ++k) parts.push({k * extent_along(whole, axis), matrices[k]});
  extent_along(whole, axis) *= matrices.size;
  return r.reshaped(joined(r, parts, whole, axis), {1, 1, rows * matrices.size, channels});
}

}  // namespace ago::learning
