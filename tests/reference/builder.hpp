// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs built at run time, node by node, for tests.
#pragma once

#include <ago/ir/graph.hpp>

#include <initializer_list>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

namespace reference {

inline constexpr int max_nodes = 400, max_edges = 1200, max_outputs = 16;
using run_time_graph = ago::ir::graph<max_nodes, max_edges, max_outputs>;

/// Appends nodes to a graph. Every function returns the number of its node.
class builder {
 public:
  run_time_graph graph{};

  int input(ago::shape extents) {
    graph.input_count = graph.node_count + 1;
    return append({.kind = ago::op::input, .out = extents}, {});
  }

  int append(ago::ir::node const& n, std::initializer_list<int> operands) {
    return append(n, std::vector<int>(operands));
  }
  int append(ago::ir::node n, std::vector<int> const& operands) {
    if (graph.node_count == max_nodes || graph.edge_count + int(operands.size()) > max_edges)
      throw std::length_error("builder: too many nodes");
    n.input_first = graph.edge_count;
    n.input_count = int(operands.size());
    n.layer = n.line = graph.node_count;
    for (int const v : operands) graph.edges[graph.edge_count++] = v;
    graph.nodes[graph.node_count] = n;
    return graph.node_count++;
  }

  /// A convolution of any kind with its own weights.
  /// (By reference: g++ 12.2 -O2 for AVX-512 passes window{1, 1, 1, 1, 1, 1, 0, 0, 0, 0} by value with pads of 1.)
  int convolution(ago::op kind, int x, int out, ago::ir::window const& win = {}, int groups = 1) {
    ago::shape s = shape(x);
    int const group_in = kind == ago::op::depthwise ? 1 : s.c / groups;
    s = {s.n, (s.h + win.pad_top + win.pad_bottom - win.span_h()) / win.stride_h + 1,
         (s.w + win.pad_left + win.pad_right - win.span_w()) / win.stride_w + 1, out};
    int const weight = reserve(out * group_in * win.kernel_h * win.kernel_w);
    return append({.kind = kind, .out = s, .win = win, .groups = groups, .weight = weight}, {x});
  }
  int bias(int x) { return append({.kind = ago::op::bias, .out = shape(x), .shift = reserve(shape(x).c)}, {x}); }
  int batch_norm(int x, float epsilon = 1e-5f) {
    int const norm = reserve(4 * shape(x).c);
    norms.push_back({norm, shape(x).c});
    return append({.kind = ago::op::batch_norm, .out = shape(x), .alpha = epsilon, .norm = norm}, {x});
  }
  int scale(int x) { return append({.kind = ago::op::scale, .out = shape(x), .weight = reserve(shape(x).c)}, {x}); }
  int prelu(int x, bool shared) {
    int const slopes = shared ? 1 : shape(x).c;
    return append({.kind = ago::op::prelu, .out = shape(x), .entries = slopes, .weight = reserve(slopes)}, {x});
  }
  int unary(ago::op kind, int x, float alpha = 0, float beta = 0) {
    return append({.kind = kind, .out = shape(x), .alpha = alpha, .beta = beta}, {x});
  }
  int binary(ago::op kind, int a, int b) { return append({.kind = kind, .out = shape(a)}, {a, b}); }
  int pool(ago::op kind, int x, ago::ir::window const& win, int h, int w, bool count_pads = false) {
    ago::shape const s = shape(x);
    return append({.kind = kind, .out = {s.n, h, w, s.c}, .win = win, .count_pads = count_pads}, {x});
  }
  int global_pool(ago::op kind, int x) { return append({.kind = kind, .out = {shape(x).n, 1, 1, shape(x).c}}, {x}); }
  int concat(std::vector<int> const& parts, int axis = 3) {
    ago::shape s = shape(parts[0]);
    int& joined = extent(s, axis);
    joined = 0;
    for (int const v : parts) {
      ago::shape part = shape(v);
      joined += extent(part, axis);
    }
    return append({.kind = ago::op::concat, .out = s, .axis = axis}, parts);
  }
  /// `count` elements along an axis.
  int slice(int x, int axis, int begin, int count, int step = 1) {
    ago::shape s = shape(x);
    extent(s, axis) = count;
    return append({.kind = ago::op::slice, .out = s, .axis = axis, .begin = begin, .step = step}, {x});
  }
  int layer_norm(int x, float epsilon = 1e-5f) {
    int const c = shape(x).c, gamma = reserve(c), beta = reserve(c);
    return append({.kind = ago::op::layer_norm, .out = shape(x), .alpha = epsilon, .weight = gamma, .shift = beta},
                  {x});
  }
  int positions(int x) {
    ago::shape const s = shape(x);
    return append({.kind = ago::op::positions, .out = s, .weight = reserve(s.h * s.w * s.c)}, {x});
  }
  int embedding(int x, int entries, int channels) {
    ago::shape const s = shape(x);
    int const table = reserve(entries * channels);
    return append({.kind = ago::op::embedding, .out = {s.n, s.h, s.w, channels}, .entries = entries, .weight = table},
                  {x});
  }
  /// A reduction along the axes whose bits are set in `along`.
  int reduce(ago::op kind, int x, int along) {
    ago::shape s = shape(x);
    for (int a = 0; a < 4; ++a)
      if (along >> a & 1) extent(s, a) = 1;
    return append({.kind = kind, .out = s}, {x});
  }
  int constant(ago::shape const& s) {
    return append({.kind = ago::op::constant, .out = s, .weight = reserve(int(s.count()))}, {0});
  }
  int matmul(int a, int b, bool transposed = false, float alpha = 1) {
    ago::shape s = shape(a);
    s.c = transposed ? shape(b).w : shape(b).c;
    return append({.kind = ago::op::matmul, .out = s, .transposed = transposed, .alpha = alpha}, {a, b});
  }
  int attention_scores(int q, int k, int heads, ago::ir::patch const& patch = {}, float alpha = 1) {
    ago::shape const s = shape(q), t = shape(k);
    int const sequences = patch.pixels();
    ago::shape const out{s.n * sequences, heads, s.h * s.w / sequences, t.h * t.w / sequences};
    return append({.kind = ago::op::attention_scores, .out = out, .groups = heads, .patch = patch, .alpha = alpha},
                  {q, k});
  }
  int attention_values(int p, int v, ago::shape const& out, ago::ir::patch const& patch = {}) {
    return append({.kind = ago::op::attention_values, .out = out, .groups = shape(p).h, .patch = patch}, {p, v});
  }
  void output(int v) {
    if (graph.output_count == max_outputs) throw std::length_error("builder: too many outputs");
    graph.outputs[graph.output_count++] = v;
  }

  ago::shape shape(int v) const { return graph.nodes[v].out; }
  static int& extent(ago::shape& s, int axis) { return axis == 0 ? s.n : axis == 1 ? s.h : axis == 2 ? s.w : s.c; }
  /// Offset of `count` new floats in the parameters.
  int reserve(int count) {
    int const first = graph.parameters;
    graph.parameters += count;
    return first;
  }

  /// The offset of a norm's parameters.
  struct norm {
    int first, channels;
  };
  std::vector<norm> norms;
};

/// Random numbers in [-1, 1], and in [0.25, 1.25] for the variances of norms.
inline std::vector<float> random_parameters(builder const& b, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> all(std::size_t(b.graph.parameters));
  for (float& p : all) p = uniform(random);
  for (auto [first, channels] : b.norms)
    for (int c = 0; c < channels; ++c) {
      float& variance = all[std::size_t(first + 3 * channels + c)];
      variance = variance / 2 + .75f;
    }
  return all;
}

inline std::vector<std::vector<float>> random_inputs(run_time_graph const& g, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<std::vector<float>> all;
  for (int v = 0; v < g.input_count; ++v) {
    all.emplace_back(std::size_t(g.nodes[v].out.count()));
    for (float& x : all.back()) x = uniform(random);
  }
  return all;
}

}  // namespace reference
