// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of training, shown as a bar while they run, and as a curve of the loss afterwards; and the whole training of a
// network that reads handwritten digits.
#pragma once

#include "arguments.hpp"
#include "plot.hpp"
#include "training_set.hpp"

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

/// Trains a classifier of digits, and prints its sizes and in the end its accuracy as `Net` on the held-out ones.
template <auto const& Net, class Trainer>
void train_on_digits(Trainer& trainer, arguments const& given) {
  constexpr int batch = Trainer::batch;
  std::printf("%d parameters, batches of %d: %d KB in all, of which %d are activations; %d kernels a step, %s\n",
              int(Trainer::parameter_count), batch, int(Trainer::bytes >> 10), int(Trainer::arena_bytes >> 10),
              Trainer::steps, ago::name_of(Trainer::target));
  training_set const set = load_training_set();
  batches<batch> batches{set, given.seed};
  train(trainer, given, int(set.images.size()) / batch, 4e-3f, [&] {
    batches.next();
    return trainer.step(batches.images, batches.labels);
  });
  std::printf("accuracy %.2f %%\n", accuracy<Net>(trainer.parameters()));
}

}  // namespace digits
