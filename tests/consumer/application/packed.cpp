// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The application with weights that are packed while it is built.
#include "network.hpp"

#include <network_weights.hpp>

int main() {
  static ago::model<network, ago::untuned, ago::packed> net{network_weights};
  float const image[] = {1, 2, 3, 6};
  float scores[2];
  net(image, scores);
  return scores[0] == 2 * 3 + .5f && scores[1] == -1 * 3 + 3 ? 0 : 1;
}
