// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest application: two scores from four pixels, with embedded weights.
#include "network.hpp"

#include <cstdio>

extern "C" {
extern unsigned char const weights[], weights_end[];
}

int main() {
  using model = ago::model<network>;
  static_assert(model::parameter_count == 4);
  if (weights_end - weights != 4 * sizeof(float)) return 2;
  static model net{std::span<float const, 4>(reinterpret_cast<float const*>(weights), 4)};

  float const image[] = {1, 2, 3, 6};
  float scores[2];
  net(image, scores);
  std::printf("%g %g\n", double(scores[0]), double(scores[1]));
  return scores[0] == 2 * 3 + .5f && scores[1] == -1 * 3 + 3 ? 0 : 1;
}
