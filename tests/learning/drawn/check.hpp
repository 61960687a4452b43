// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the gradients of a trainer with those that the reference executor computes in double precision.
#pragma once

#include <ago/training.hpp>

#include <reference/executor.hpp>
#include <reference/functions.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace drawn {

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
  auto const exact = reference::run(graph, parameters, in);
  double const loss = double(t.backward(std::span(in[0]).template first<Trainer::input_size()>(),
                                        std::span(in[1]).template first<Trainer::target_size>()));
  auto const gradients = t.gradients();
  double largest = 0, error = 0;
  bool is_number = std::isfinite(loss);
  std::size_t at = 0;
  for (std::size_t o = 1; o < exact.size(); ++o)
    for (double const x : exact[o]) {
      double const difference = std::fabs(x - double(gradients[at++]));
      is_number = is_number && std::isfinite(difference);
      largest = std::max(largest, std::fabs(x));
      error = std::max(error, difference);
    }
  double const of_loss = std::fabs(loss - exact[0][0]) / std::fabs(exact[0][0]);
  bool const good = is_number && at == gradients.size() && error <= 2e-5 * largest && of_loss <= 1e-5;
  std::printf("%s: gradients differ by %.2g of the largest, the loss by %.2g\n", good ? "equal" : "DIFFERENT",
              error / largest, of_loss);
  return good ? 0 : 1;
}

}  // namespace drawn
