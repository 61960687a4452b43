// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the gradients of a trainer with those that the reference executor computes in double precision.
#pragma once

#include <ago/training.hpp>

#include <reference/executor.hpp>
#include <reference/functions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

namespace drawn {

using gradients = std::vector<std::vector<double>>;

/// The largest difference; NaN if there is one.
inline double difference(gradients const& a, gradients const& b) {
  double r = 0;
  for (std::size_t o = 1; o < a.size(); ++o)
    for (std::size_t i = 0; i < a[o].size(); ++i) {
      double const d = std::fabs(a[o][i] - b[o][i]);
      if (std::isnan(d)) return d;
      r = std::max(r, d);
    }
  return r;
}

/// Do gradients change as much where inputs change by errors of rounding in values after them, of long sums and norms?
/// Then values next to a kink, or two that are nearly the maximum, may be on the other side in single precision.
inline bool is_at_kink(auto const& graph, std::vector<float> const& parameters, std::vector<std::vector<float>> in,
                       gradients const& exact, double error, std::mt19937& random) {
  std::vector<float> const x = in[0];
  std::uniform_real_distribution<float> near(1 - 3e-5f, 1 + 3e-5f);
  for (int attempt = 0; attempt < 8; ++attempt) {
    for (std::size_t i = 0; i < x.size(); ++i) in[0][i] = x[i] * near(random);
    if (difference(reference::run(graph, parameters, in), exact) > error / 2) return true;
  }
  return false;
}

/// Prints what differs most, as a part of the largest gradient and of the loss; returns 1 if it is too much, 0 if not.
template <class Trainer>
int check() {
  auto const& graph = Trainer::program::graph;  // inputs: the network's, targets, and the gradient of the loss
  reference::define_functions();
  static Trainer t{1};
  std::mt19937 random(7);
  std::vector<std::vector<float>> in;
  for (int i = 0; i < graph.input_count; ++i) {
    in.emplace_back(std::size_t(graph.nodes[i].out.count()), 1.f);
    if (i < 2)
      for (float& x : in.back()) x = std::uniform_real_distribution(-1.f, 1.f)(random);
  }
  std::vector<float> const parameters(t.parameters().begin(), t.parameters().end());
  gradients const exact = reference::run(graph, parameters, in);
  double const loss = double(t.backward(std::span(in[0]).template first<Trainer::input_size()>(),
                                        std::span(in[1]).template first<Trainer::target_size>()));
  gradients single = exact;
  double largest = 0;
  auto next = t.gradients().begin();
  for (std::size_t o = 1; o < exact.size(); ++o)
    for (std::size_t i = 0; i < exact[o].size(); ++i) {
      largest = std::max(largest, std::fabs(exact[o][i]));
      single[o][i] = double(*next++);
    }
  if (next != t.gradients().end()) return std::puts("DIFFERENT: there are more gradients than of the graph"), 1;
  double const error = difference(exact, single), of_loss = std::fabs(loss - exact[0][0]) / std::fabs(exact[0][0]);
  bool const same_loss = of_loss <= 1e-5, equal = error <= 2e-5 * largest && same_loss;
  bool const kink = !equal && same_loss && is_at_kink(graph, parameters, in, exact, error, random);
  std::printf("%s: gradients differ by %.2g of the largest, the loss by %.2g\n",
              equal  ? "equal"
              : kink ? "at a kink"
                     : "DIFFERENT",
              error / largest, of_loss);
  return equal || kink ? 0 : 1;
}

}  // namespace drawn
