// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutional networks, trained as PyTorch trains them.
#include "compare.hpp"

using namespace train_test;

namespace {
constexpr huber_loss huber_of_half{.delta = .5};
}  // namespace

TEST_CASE("a convolutional network with batch norms is trained as by PyTorch's AdamW with smoothed labels") {
  static constexpr cross_entropy_loss smoothed{.smoothing = .1};
  using trainer = ago::trainer<convolutional, smoothed, adamw, training{.batch = 4}>;
  static trainer t(0);
  t.rate = .01f;
  compare(t, parameters<convolutional>, 2, pytorch::convolutional_losses, pytorch::convolutional_parameters);
}

TEST_CASE("strided, dilated and transposed convolutions and pools are trained as by PyTorch's RMSprop") {
  using trainer = ago::trainer<strided, huber_of_half, rmsprop, training{.batch = 2}>;
  static trainer t(0, {.momentum = .5f});
  t.rate = .002f;
  compare(t, parameters<strided>, 4, pytorch::strided_losses, pytorch::strided_parameters);
}

TEST_CASE("binary cross entropy is minimised as by PyTorch") {
  using trainer = ago::trainer<strided, binary_cross_entropy, sgd, training{.batch = 2}>;
  static trainer t(0);
  t.rate = .05f;
  compare(t, parameters<strided>, 5, pytorch::strided_binary_losses, pytorch::strided_binary_parameters, true);
}
