// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 2: draws what the network has learnt.
// [program]
#include "ring.hpp"

#include <cstdio>

using classifier = ago::model<tutorial::ring>;
extern "C" float const ring_weights[classifier::parameter_count];  // linked in by ago_embed()

int main() {
  static classifier net{ring_weights};
  for (int row = 0; row < 13; ++row) {
    for (int column = 0; column < 27; ++column) {
      float const point[] = {float(column - 13) / 10, float(6 - row) / 5};
      float score[1];
      net(point, score);
      std::putchar(score[0] > 0 ? '#' : '.');
    }
    std::putchar('\n');
  }
}
// [/program]
