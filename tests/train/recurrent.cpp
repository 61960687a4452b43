// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrent network, whose steps share their parameters.
#include "compare.hpp"

using namespace train_test;

TEST_CASE("parameters that all steps of a recurrent network read are trained as by PyTorch") {
  using trainer = ago::trainer<recurrent, cross_entropy, sgd, training{.batch = 3}>;
  static trainer t(0, {.momentum = .9f});
  t.rate = .1f;
  compare(t, parameters<recurrent>, 7, pytorch::recurrent_losses, pytorch::recurrent_parameters);
}
