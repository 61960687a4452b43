// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of training, shown as a bar while they run, and as a curve of the loss afterwards.
#pragma once

#include "arguments.hpp"
#include "plot.hpp"

#include <ago/training.hpp>

#include <chrono>
#include <cmath>
#include <vector>

namespace digits {

/// Rises linearly in the first tenth, then falls as a cosine.
inline float rate_at(int step, int steps, float highest) {
  float const warm = float(steps) / 10, at = float(step);
  if (at < warm) return highest * (at + 1) / warm;
  return highest / 2 * (1 + std::cos(3.1415927f * (at - warm) / (float(steps) - warm)));
}

/// Calls `step`, which trains a step and returns its loss. A loss or label that the trainer refuses ends the program.
template <class Trainer, class Step>
void train(Trainer& trainer, arguments const& given, int steps_per_epoch, float highest_rate, Step step) {
  int const steps = given.epochs * steps_per_epoch;
  std::vector<float> losses;
  auto const start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    trainer.rate = rate_at(i, steps, highest_rate);
    losses.push_back(step());
    if (trainer.status() != ago::training_status::ok) {
      std::fprintf(stderr, "%s: step %d: %s\n", given.program, i, ago::name_of(trainer.status()));
      std::exit(1);
    }
    if ((i + 1) % steps_per_epoch == 0) plot::progress(i + 1, steps, i / steps_per_epoch + 1, losses.back());
  }
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  plot::print(losses, "loss");
  if (given.svg && !plot::write_svg(given.svg, losses, "training loss")) given.refuse("cannot be written", given.svg);
  std::printf("%d steps in %.2f s, %.0f microseconds each\n", steps, seconds, 1e6 * seconds / steps);
}

}  // namespace digits
