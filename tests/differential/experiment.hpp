// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs of a network, and its expected outputs.
#pragma once

#include <doctest/doctest.h>

#include <reference/executor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "subject.hpp"

namespace differential {

/// Random parameters, of a magnitude that keeps values near 1.
class random_parameters {
 public:
  random_parameters(reference::graph_view const& g, std::mt19937& random) : random_(random) {
    all_.resize(std::size_t(g.parameters), std::numeric_limits<float>::quiet_NaN());
    for (int v = g.input_count; v < g.size(); ++v) {
      ago::ir::node const& n = g.nodes[std::size_t(v)];
      if (n.weight >= 0) fill_weights(n, g.nodes[std::size_t(g.operand(v))].out.c);
      if (n.shift >= 0) fill(n.shift, n.out.c, 0, .5f);
      if (n.norm >= 0) {
        fill(n.norm, n.out.c, .5f, 1);
        fill(n.norm + n.out.c, 2 * n.out.c, 0, .5f);
        fill(n.norm + 3 * n.out.c, n.out.c, .75f, .5f);
      }
    }
  }
  std::vector<float> const& all() const { return all_; }
  /// Every parameter belongs to exactly one layer.
  bool exact() const {
    return !overlap_ && std::none_of(all_.begin(), all_.end(), [](float x) { return std::isnan(x); });
  }

 private:
  void fill_weights(ago::ir::node const& n, int in) {
    if (n.scatter.is_used()) {
      int const outputs = n.out.c / (n.scatter.stride_h * n.scatter.stride_w);
      int const pairs = in * outputs / (n.kind == ago::op::depthwise ? in : n.groups);
      return fill(n.weight, n.scatter.kernel_h * n.scatter.kernel_w * pairs, 0, .5f);
    }
    int const depth = (n.kind == ago::op::depthwise ? 1 : in / n.groups) * n.win.kernel_h * n.win.kernel_w;
    switch (n.kind) {
      case ago::op::layer_norm: return fill(n.weight, n.out.c, .5f, 1);
      case ago::op::scale: return fill(n.weight, n.out.c, .5f, 1);
      case ago::op::prelu: return fill(n.weight, n.entries, .25f, .5f);
      case ago::op::constant: return fill(n.weight, int(n.out.count()), 0, 1);
      case ago::op::positions: return fill(n.weight, n.out.h * n.out.w * n.out.c, 0, 1);
      case ago::op::embedding: return fill(n.weight, n.entries * n.out.c, 0, 1);
      default: fill(n.weight, n.out.c * depth, 0, std::sqrt(3.f / float(depth)));
    }
  }
  void fill(int first, int count, float middle, float reach) {
    std::uniform_real_distribution<float> uniform(middle - reach, middle + reach);
    for (float& x : std::span(all_).subspan(std::size_t(first), std::size_t(count))) {
      overlap_ = overlap_ || !std::isnan(x);
      x = uniform(random_);
    }
  }
  std::mt19937& random_;
  std::vector<float> all_;
  bool overlap_ = false;
};

struct experiment {
  subject const& network;
  std::vector<float> weights;
  std::vector<std::vector<float>> inputs;
  std::vector<reference::value> expected;
};

/// The number of rows of the table that input v indexes; 0 if it is not an index.
inline int entries_of_input(reference::graph_view const& g, int v) {
  int entries = 0;
  for (int u = g.input_count; u < g.size(); ++u) {
    if (g.nodes[std::size_t(u)].kind != ago::op::embedding) continue;
    int source = g.operand(u);
    while (source >= g.input_count) source = g.operand(source);  // through layers that only move them
    if (source == v) entries = std::max(entries, g.nodes[std::size_t(u)].entries);
  }
  return entries;
}

/// Any numbers, or whole ones, a few of which are beyond a table of `entries` rows.
inline void fill_input(std::span<float> input, int entries, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::uniform_int_distribution<int> row(-2, entries + 1);
  for (float& x : input) x = entries > 0 ? float(row(random)) : uniform(random);
}

/// The experiment of a network, which is always the same.
inline experiment prepare(subject const& s) {
  std::mt19937 random(unsigned(s.number) + 1);
  random_parameters const weights(s.graph, random);
  REQUIRE_MESSAGE(weights.exact(), "parameters overlap or leave gaps");
  experiment e{s, weights.all(), {}, {}};
  for (int v = 0; v < s.graph.input_count; ++v) {
    e.inputs.emplace_back(std::size_t(s.graph.nodes[std::size_t(v)].out.count()));
    fill_input(e.inputs.back(), entries_of_input(s.graph, v), random);
  }
  auto const values = reference::run_all(s.graph, e.weights, e.inputs);
  for (int const v : s.graph.outputs) {
    e.expected.push_back(values[std::size_t(v)]);
    for (double const y : e.expected.back().exact) REQUIRE(std::abs(y) < 1e30);
  }
  return e;
}

}  // namespace differential
