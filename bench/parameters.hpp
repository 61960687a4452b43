// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeded parameters that keep the activations of a deep network in range, and seeded inputs.
#pragma once

#include "graph_view.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace bench {

/// Uniform in [low, high), a function of the seed and the index alone (SplitMix64, Steele et al., OOPSLA 2014).
inline float uniform(std::uint64_t seed, std::uint64_t index, float low, float high) {
  std::uint64_t z = (seed << 32) + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return low + (high - low) * float(double((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

/// Weights uniform with He's variance 2 / fan-in (ICCV 2015), small biases, norms near the identity. A parameter
/// depends only on its offset, so operators that share one get the same value.
inline std::vector<float> make_parameters(graph_view const& graph, std::uint64_t seed) {
  std::vector<float> all(std::size_t(graph.parameters));
  auto const fill = [&](long first, long count, float low, float high) {
    for (long i = first; i < first + count; ++i) all[std::size_t(i)] = uniform(seed, std::uint64_t(i), low, high);
  };
  for (int v = 0; v < graph.size(); ++v) {
    ago::ir::node const& n = graph.node(v);
    long const c = n.out.c;
    if (has_weights(n.kind)) {
      float const bound = std::sqrt(6.f / float(graph.fan_in(v)));
      fill(n.weight, c * graph.fan_in(v), -bound, bound);
    }
    if (n.kind == ago::op::layer_norm) fill(n.weight, c, .8f, 1.2f);  // gamma
    if (n.kind == ago::op::positions) fill(n.weight, c * n.out.h * n.out.w, -.1f, .1f);
    if (n.kind == ago::op::embedding) fill(n.weight, c * n.entries, -1, 1);
    if (n.shift >= 0) fill(n.shift, c, -.1f, .1f);
    if (n.norm >= 0) {
      fill(n.norm, c, .8f, 1.2f);          // gamma
      fill(n.norm + c, 2 * c, -.2f, .2f);  // beta, mean
      fill(n.norm + 3 * c, c, .7f, 1.3f);  // variance
    }
  }
  return all;
}

/// Uniform in [-1, 1); whole numbers for inputs that index a table. Inputs are concatenated.
inline void make_inputs(graph_view const& graph, std::uint64_t seed, std::span<float> all) {
  std::size_t i = 0;
  for (int v = 0; v < graph.input_count; ++v) {
    int entries = 0;
    for (int reader = 0; reader < graph.size(); ++reader)
      if (graph.node(reader).kind == ago::op::embedding && graph.operand(reader) == v)
        entries = graph.node(reader).entries;
    for (std::size_t const end = i + std::size_t(graph.node(v).out.count()); i < end; ++i)
      all[i] = entries > 0 ? std::floor(uniform(seed, i, 0, float(entries))) : uniform(seed, i, -1, 1);
  }
}

}  // namespace bench
