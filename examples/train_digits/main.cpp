// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a network on handwritten digits, from random parameters, in static memory.
//
// usage: train_digits [--seed N] [--epochs N] [--svg FILE]
#include "../digits/network.hpp"
#include "training_loop.hpp"

namespace {

constexpr int batch = 32;
inline constexpr ago::cross_entropy_loss smoothed{.smoothing = .05};
using trainer = ago::trainer<digits::network, smoothed, ago::adamw, ago::training{.batch = batch}>;
static_assert(trainer::bytes < 4 << 20);

}  // namespace

int main(int count, char** words) {
  auto const given = digits::parse({.program = "train_digits", .epochs = 30}, count, words);
  static trainer training{given.seed};
  digits::train_on_digits<digits::network>(training, given);
}
