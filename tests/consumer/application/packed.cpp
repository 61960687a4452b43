// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The application with weights packed at build time.
#include "network.hpp"

#include <network_weights.hpp>

int main() {
  static ago::model<network, ago::untuned, ago::packed> net{network_weights};
  float const image[] = {1, 2, 3, 6};
  float scores[2];
  net(image, scores);
  return scores[0] == 2 * 3 + .5f && scores[1] == -1 * 3 + 3 ? 0 : 1;
}
