// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison of a trainer with PyTorch.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "networks.hpp"
#include "pytorch.hpp"

namespace train_test {

/// Steps equal, bit by bit, those of a twin that updates after its backward pass.
template <class Trainer>
void compare_updates(std::vector<float> const& start, auto const& optimizer, float rate, auto const& draw) {
  auto const from = std::span(start).template first<Trainer::parameter_count>();
  auto const a = std::make_unique<Trainer>(from, optimizer), b = std::make_unique<Trainer>(from, optimizer);
  a->rate = b->rate = rate;
  std::vector<float> x(Trainer::input_size());
  std::vector<typename Trainer::target_type> target(Trainer::target_size);
  for (int step = 0; step < 4; ++step) {
    draw(x, target);
    auto const in = std::span(x).template first<Trainer::input_size()>();
    auto const wanted = std::span(target).template first<Trainer::target_size>();
    CAPTURE(step);
    CHECK(a->step(in, wanted) == b->backward(in, wanted));
    b->update();
    CHECK(a->status() == training_status::ok);
    CHECK(a->updates() == b->updates());
    CHECK(std::ranges::equal(a->parameters(), b->parameters()));
    CHECK(std::ranges::equal(a->states(), b->states()));
  }
}

/// Trains for 100 steps as reference.py does, and compares the losses and the last parameters.
template <class Trainer, int N, int L, int P>
void compare(Trainer& t, lowering::parameter_table<N> const& table, std::uint32_t seed, double const (&losses)[L],
             double const (&last)[P], bool halves = false) {
  generator random(seed);
  std::vector<float> const start = filled(table, random);
  REQUIRE(start.size() == t.parameters().size());
  std::copy(start.begin(), start.end(), t.parameters().begin());
  std::vector<float> x(t.input_size());
  std::vector<typename Trainer::target_type> target(t.target_size);
  auto const draw = [&](auto& x, auto& target) {
    for (float& v : x) v = float(random.value());
    for (auto& v : target) {
      if constexpr (std::is_same_v<typename Trainer::target_type, int>) v = int(random.next() % Trainer::classes);
      else v = float(halves ? random.value() / 2 + .5 : random.value());
    }
  };
  for (int step = 0; step < L; ++step) {
    draw(x, target);
    float const loss = t.step(std::span(x).template first<Trainer::input_size()>(),
                              std::span(target).template first<Trainer::target_size>());
    CHECK(t.status() == training_status::ok);
    CAPTURE(step);
    REQUIRE(double(loss) == doctest::Approx(losses[step]).epsilon(1e-4).scale(0));
  }
  double worst = 0;
  REQUIRE(std::size_t(P) == t.parameters().size());
  for (int i = 0; i < P; ++i) worst = std::max(worst, std::fabs(double(t.parameters()[std::size_t(i)]) - last[i]));
  CHECK(worst < 1e-3);
  compare_updates<Trainer>(start, t.optimizer, t.rate, draw);
}

}  // namespace train_test
