// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters and inputs for timing: seeded, and such that activations stay in the range of a trained network, since
// processors may handle huge and tiny numbers in other ways.
#pragma once

#include <ago/network/parameters.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ago::tuner {

/// Uniform in [low, high), a function of the seed and the index only (SplitMix64, Steele et al., OOPSLA 2014).
inline float uniform(std::uint64_t seed, std::uint64_t index, float low, float high) {
  std::uint64_t z = (seed << 32) + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return low + (high - low) * float(double((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

struct value_range {
  float low, high;
};

/// Weights with He's variance 2 / fan-in (ICCV 2015), small biases, norms near the identity.
inline value_range range_of(parameter const& p) {
  switch (p.role) {
    case role::gamma: return {.8f, 1.2f};
    case role::variance: return {.7f, 1.3f};
    case role::bias:
    case role::beta:
    case role::mean: return {-.1f, .1f};
    case role::weight: break;
  }
  int fan_in = 1;
  for (int k = 1; k < p.rank; ++k) fan_in *= p.dims[k];
  float const bound = p.kind == op::embedding || p.kind == op::positions ? .1f : std::sqrt(6.f / float(fan_in));
  return {-bound, bound};
}

template <auto const& Net>
std::vector<float> sample_parameters() {
  std::vector<float> all(std::size_t(parameter_count<Net>));
  for (parameter const& p : parameters<Net>) {
    value_range const r = range_of(p);
    for (int i = p.offset; i < p.offset + p.count(); ++i)
      all[std::size_t(i)] = uniform(1, std::uint64_t(i), r.low, r.high);
  }
  return all;
}

/// One vector for each input. Inputs that select rows of a table contain row numbers.
inline std::vector<std::vector<float>> sample_inputs(graph_view g) {
  std::vector<std::vector<float>> all;
  for (int k = 0; k < g.input_count; ++k) {
    value_range r{-1, 1};
    for (int v = g.input_count; v < g.node_count; ++v)
      if (g.nodes[v].kind == op::embedding && g.operand(v) == k) r = {0, float(g.nodes[v].entries)};
    std::vector<float> values(std::size_t(g.nodes[k].out.count()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = uniform(2 + std::uint64_t(k), i, r.low, r.high);
      if (r.low == 0) values[i] = std::floor(values[i]);
    }
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace ago::tuner
