// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a recurrent network to read handwritten digits row by row.
//
// usage: train_sequence [--seed N] [--epochs N] [--svg FILE]
#include "../train_digits/training_loop.hpp"
#include "network.hpp"

#include <string_view>

namespace {

constexpr int batch = 32;
using trainer = ago::trainer<sequence::network, ago::cross_entropy, ago::adamw, ago::training{.batch = batch}>;
static_assert(trainer::bytes < 4 << 20);

/// The paper's values of alpha, beta and b; recurrent weights as PyTorch's LSTM has them.
void initialise(std::span<float> parameters, int units) {
  for (ago::parameter const& p : ago::parameters<sequence::network>) {
    auto const values = parameters.subspan(std::size_t(p.offset), std::size_t(p.count()));
    std::string_view const name = p.name ? p.name : "";
    if (name == "alpha") std::ranges::fill(values, 1.f);
    if (name == "beta1" || name == "beta2") std::ranges::fill(values, .5f);
    if (name == "b") std::ranges::fill(values, 0.f);
    if (name == "u")  // uniform within 1 / sqrt of the number of elements
      for (float& x : values) x *= std::sqrt(float(p.count()) / float(units));
  }
}

}  // namespace

int main(int count, char** words) {
  auto const given = digits::parse({.program = "train_sequence", .epochs = 30}, count, words);
  static trainer training{given.seed};
  initialise(training.parameters(), sequence::units);
  digits::train_on_digits<sequence::network>(training, given);
}
