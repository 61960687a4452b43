// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a network on handwritten digits, from random parameters, in static memory.
//
// usage: train_digits [--seed N] [--epochs N] [--svg FILE]
#include "../digits/network.hpp"
#include "training_loop.hpp"
#include "training_set.hpp"

namespace {

constexpr int batch = 32;
inline constexpr ago::cross_entropy_loss smoothed{.smoothing = .05};
using trainer = ago::trainer<digits::network, smoothed, ago::adamw, ago::training{.batch = batch}>;
static_assert(trainer::bytes < 4 << 20);

}  // namespace

int main(int count, char** words) {
  auto const given = digits::parse({.program = "train_digits", .epochs = 30}, count, words);
  static trainer training{given.seed};
  std::printf("%d parameters, batches of %d: %d KB in all, of which %d are activations; %d kernels a step, %s\n",
              int(trainer::parameter_count), batch, int(trainer::bytes >> 10), int(trainer::arena_bytes >> 10),
              trainer::steps, ago::name_of(trainer::target));

  digits::training_set const set = digits::load_training_set();
  digits::batches<batch> batches{set, given.seed};
  digits::train(training, given, int(set.images.size()) / batch, 4e-3f, [&] {
    batches.next();
    return training.step(batches.images, batches.labels);
  });
  std::printf("accuracy %.2f %%\n", digits::accuracy<digits::network>(training.parameters()));
}
