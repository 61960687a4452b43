// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains the capsule network on the handwritten digits, from random parameters, with a loss of its own.
//
// usage: train_capsules [--seed N] [--epochs N] [--svg FILE]
#include "../train_digits/training_loop.hpp"
#include "network.hpp"

namespace {

// [loss]
/// The margin loss of Sabour, Frosst and Hinton: the capsule of an image's class should be longer than .9, and those of
/// other classes shorter than .1. Of lengths [1, 1, images, classes] and the numbers of the classes.
struct margin_loss {
  static constexpr bool takes_classes = true;
  constexpr auto operator()(ago::expression::extents const& lengths, ago::expression::extents const& classes) const {
    using namespace ago::expression;
    return compute("margin_loss", [&](operand length, operand label) {
      var one{1}, n, h, w, k;
      scalar const x = length(n, h, w, k), missed = maximum(.9 - x, 0), wrong = maximum(x - .1, 0);
      scalar const is_class = label(n, h, w, 0) == length.position(k);
      return result(one) =
                 sum(n, h, w, k)(select(is_class, missed * missed, .5 * wrong * wrong)) / double(classes.count());
    })(lengths, classes);
  }
};
inline constexpr margin_loss margin{};
// [/loss]

constexpr int batch = 32;
using trainer = ago::trainer<capsules::network, margin, ago::adamw, ago::training{.batch = batch}>;

/// Normally distributed, with the deviations of train_capsules.py; those of the convolution, 0 here, stay as they are.
void initialise(std::span<float> parameters, std::uint64_t seed) {
  constexpr float deviations[] = {0, 0, .2357f, .1f, .1179f, .1f, .5f};
  ago::philox const random{seed};
  std::uint64_t row = 0;
  for (ago::parameter const& p : ago::parameters<capsules::network>) {
    float const deviation = deviations[row++];
    if (deviation == 0) continue;
    for (int i = 0; i < p.count(); ++i) {  // Box and Muller
      auto const bits = random(std::uint64_t(i), row);
      float const u = ago::philox::uniform(bits.of[0]), v = ago::philox::uniform(bits.of[1]);
      parameters[std::size_t(p.offset + i)] = deviation * std::sqrt(-2 * std::log(1 - u)) * std::cos(6.2831853f * v);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  auto const given = digits::parse({.program = "train_capsules", .epochs = 30}, count, words);
  static trainer training{given.seed};
  initialise(training.parameters(), given.seed);
  digits::train_on_digits<capsules::network>(training, given);
}
