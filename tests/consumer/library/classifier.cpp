// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "classifier.hpp"

extern "C" {
extern unsigned char const classifier_weights[], classifier_weights_end[];
}

int classifier::classify(std::span<float const, 4> image) {
  static model net{std::span<float const, 4>(reinterpret_cast<float const*>(classifier_weights), 4)};
  float scores[2];
  net(image, scores);
  return scores[1] > scores[0];
}
