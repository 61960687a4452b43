// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trainer that is ready to run.
#pragma once

#include "../displaced.hpp"
#include "../parameters.hpp"
#include "subject.hpp"

#include <ago/training.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace bench {

/// A trainer on one batch. Examples and parameters are made from a seed. Targets are classes, or uniform in [0, 1).
template <class Trainer>
training_run prepare_step() {
  auto const t = make_displaced<Trainer>(0, std::uint64_t(1), ago::sgd{.momentum = training_run::momentum});
  t->rate = training_run::rate;
  training_run r;
  r.parameters.assign(t->parameters().begin(), t->parameters().end());
  auto const input = std::make_shared<std::vector<float>>();
  for (std::size_t i = 0; i < Trainer::input_size(); ++i) input->push_back(uniform(2, i, -1, 1));
  auto const targets = std::make_shared<std::vector<typename Trainer::target_type>>();
  for (std::size_t i = 0; i < Trainer::target_size; ++i) {
    float const u = uniform(3, i, 0, 1);
    if constexpr (std::is_same_v<typename Trainer::target_type, int>) targets->push_back(int(u * Trainer::classes));
    else targets->push_back(u);
  }
  r.input = *input;
  r.targets.assign(targets->begin(), targets->end());
  auto const on_batch = [t, input, targets](auto const& run) {
    return run(*t, std::span(*input).template first<Trainer::input_size()>(),
               std::span(*targets).template first<Trainer::target_size>());
  };
  r.step = [=] { return on_batch([](Trainer& it, auto const&... batch) { return it.step(batch...); }); };
  r.backward = [=] { return on_batch([](Trainer& it, auto const&... batch) { return it.backward(batch...); }); };
  r.gradients = [=] { return std::span<float const>(t->gradients()); };
  return r;
}

}  // namespace bench
