// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bench/training measures: networks, trained and run with batches of one size.
#pragma once

#include "../entry.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// A network that is ready to be trained and run, on one batch that stays the same.
struct training_run {
  static constexpr float rate = 1e-3f, momentum = .9f;  ///< of stochastic gradient descent

  std::vector<float> parameters;                      ///< at the start, in order of declaration
  std::vector<float> input, targets;                  ///< targets: numbers of classes, or values
  std::function<float()> step;                        ///< forward, backward and update; returns the loss
  std::function<float()> backward;                    ///< forward and backward; returns the loss
  std::function<std::span<float const>()> gradients;  ///< of the last backward(), in order of declaration
  std::function<void()> infer;                        ///< with the parameters of the start
};

/// A network with a batch size.
struct training_subject {
  std::string name;
  int batch = 1;
  double agreement = 0;  ///< the largest difference between PyTorch's losses and ago's, as a part of them
  std::size_t arena_bytes = 0, parameter_bytes = 0;
  std::function<training_run()> prepare;
  std::vector<step_account> accounts;                       ///< of the kernels of a training step
  std::function<std::function<void(int)>()> prepare_steps;  ///< returns a function that runs one of them
};

/// All subjects of this program, in no particular order.
inline std::vector<training_subject>& training_subjects() {
  static std::vector<training_subject> all;
  return all;
}

}  // namespace bench
