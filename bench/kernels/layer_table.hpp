// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers of a network in order, recorded as they are declared.
#pragma once

#include "layer.hpp"

namespace bench {

/// The position of a layer: "block.index.part".
struct layer_name {
  char const* block = "";
  int index = 0;
  char const* part = "";
};

struct named_layer {
  layer_shape what{};
  layer_name name{};
};

/// A network as a list of layers. `at` is the shape of the value that the next layer reads; branches set it.
struct layer_table {
  static constexpr int capacity = 96;

  char const* network;
  int size;  ///< of the input image, or tokens
  ago::shape at;
  named_layer rows[capacity]{};
  int count = 0;
  char const* block = "";
  int index = 0;
  int blocks = 0;  ///< counted by begin_next()

  constexpr layer_table(char const* name, int pixels, int channels = 3)
      : network(name), size(pixels), at{1, pixels, pixels, channels} {}

  /// Layers that follow belong to this block.
  constexpr void begin(char const* name, int number) {
    block = name;
    index = number;
  }
  constexpr void begin_next(char const* name) { begin(name, ++blocks); }
  constexpr void add(layer_shape what, layer_name name) {
    rows[count++] = {what, name};
    at = result_of(what);
  }
  constexpr void add(layer_shape what, char const* part) { add(what, {block, index, part}); }

  constexpr void convolution(char const* part, int out, int kernel, int stride, int pad, ago::op activation) {
    add({.kind = kernel == 1 && stride == 1 ? ago::op::pointwise : ago::op::conv2d,
         .in = at,
         .out = out,
         .win = square(kernel, stride, pad),
         .activation = activation},
        part);
  }
  constexpr void pointwise(char const* part, int out, ago::op activation) {
    convolution(part, out, 1, 1, 0, activation);
  }
  constexpr void depthwise(char const* part, int kernel, int stride, ago::op activation) {
    add({.kind = ago::op::depthwise,
         .in = at,
         .out = at.c,
         .win = square(kernel, stride, kernel / 2),
         .activation = activation},
        part);
  }
  /// Applied to every pixel; pixels count as rows of a matrix, however they are arranged.
  constexpr void linear(char const* part, int out, ago::op activation = ago::op::identity) {
    add({.kind = ago::op::linear, .in = {int(at.pixels()), 1, 1, at.c}, .out = out, .activation = activation}, part);
  }
  constexpr void max_pool(char const* part, int kernel, int stride, int pad) {
    add({.kind = ago::op::max_pool, .in = at, .out = at.c, .win = square(kernel, stride, pad)}, part);
  }
  constexpr void global_avg_pool(char const* part) {
    add({.kind = ago::op::global_avg_pool, .in = at, .out = at.c}, part);
  }

  static constexpr ago::ir::window square(int kernel, int stride, int pad) {
    return {.kernel_h = kernel,
            .kernel_w = kernel,
            .stride_h = stride,
            .stride_w = stride,
            .pad_top = pad,
            .pad_left = pad,
            .pad_bottom = pad,
            .pad_right = pad};
  }
};

constexpr long multiply_adds(layer_table const& t) {
  long sum = 0;
  for (int i = 0; i < t.count; ++i) sum += multiply_adds(t.rows[i].what);
  return sum;
}

/// The activation after node v of a graph after its passes, or identity; a bias may come in between.
template <class Graph>
constexpr ago::op activation_behind(Graph const& g, int v) {
  for (int u = v + 1; u < g.node_count; ++u) {
    if (g.operand(u) != v) continue;
    if (g.nodes[u].kind == ago::op::bias) return activation_behind(g, u);
    if (is_unary(g.nodes[u].kind)) return g.nodes[u].kind;
  }
  return ago::op::identity;
}

/// The layers of a network written with ago, named by the numbers that diagnostics use.
template <auto const& Graph>
constexpr layer_table layers_of(char const* network, int size) {
  layer_table t(network, size);
  for (int v = Graph.input_count; v < Graph.node_count; ++v) {
    ago::ir::node const& n = Graph.nodes[v];
    layer_shape s{.kind = n.kind, .in = Graph.source(v).out, .out = n.out.c, .win = n.win};
    if (has_weights(n.kind)) s.activation = activation_behind(Graph, v);
    s.ceil = is_pool(n.kind) && !(result_of(s) == n.out);
    if (has_weights(n.kind) || is_pool(n.kind)) t.add(s, {"layer", n.layer, ""});
  }
  return t;
}

}  // namespace bench
