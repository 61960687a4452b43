// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The example of docs/training.md.
// [step]
#include <ago/training.hpp>
using namespace ago;

inline constexpr auto classifier = input{.c = 64} | linear{32} | relu{} | linear{10};
using digits_trainer = ago::trainer<classifier, cross_entropy, adam, training{.batch = 32}>;
static_assert(digits_trainer::bytes < 128 << 10);  // parameters, gradients, states, activations

float train(std::span<float const, 32 * 64> images, std::span<int const, 32> classes) {
  static digits_trainer t{/*seed=*/1};
  t.rate = 1e-3f;
  return t.step(images, classes);  // the loss
}
// [/step]

#include <doctest/doctest.h>

#include <array>

TEST_CASE("the documented trainer learns a batch by heart") {
  std::array<float, 32 * 64> images;
  std::array<int, 32> classes;
  philox const random(3);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = philox::uniform(random(i).of[0]);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = int(i % 10);
  float const first = train(images, classes);
  CHECK(first > 2);
  float last = 0;
  for (int i = 0; i < 500; ++i) last = train(images, classes);
  CHECK(last < first / 4);
}
