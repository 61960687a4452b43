// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of linear layers, tokens and activations, trained as PyTorch trains them.
#include "compare.hpp"

using namespace train_test;

TEST_CASE("a perceptron is trained as by PyTorch with momentum of Nesterov and weight decay") {
  using trainer = ago::trainer<perceptron, cross_entropy, sgd, training{.batch = 8}>;
  static trainer t(0, {.momentum = .9f, .weight_decay = .01f, .nesterov = true});
  t.rate = .05f;
  compare(t, parameters<perceptron>, 1, pytorch::perceptron_losses, pytorch::perceptron_parameters);
}

TEST_CASE("norms, attention and activations are trained as by PyTorch's Adam with clipped gradients") {
  using trainer = ago::trainer<functions, mean_squared_error, adam, training{.batch = 2}>;
  static trainer t(0, {.weight_decay = .01f});
  t.rate = .01f;
  t.clip_norm = .3f;
  compare(t, parameters<functions>, 3, pytorch::functions_losses, pytorch::functions_parameters);
}

TEST_CASE("the absolute error is minimised as by PyTorch") {
  using trainer = ago::trainer<perceptron, mean_absolute_error, sgd, training{.batch = 8}>;
  static trainer t(0, {.momentum = .5f});
  t.rate = .01f;
  compare(t, parameters<perceptron>, 6, pytorch::perceptron_absolute_losses, pytorch::perceptron_absolute_parameters);
}
