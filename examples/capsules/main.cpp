// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies the held-out digits by a capsule network, and compares every answer with PyTorch's.
#include "../digits/data.hpp"
#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

extern "C" {
extern unsigned char const capsules_weights[], capsules_weights_end[];
extern unsigned char const capsules_expected[], capsules_expected_end[];
}

int main() {
  using compiled = ago::model<capsules::network>;
  static compiled net{
      digits::weights<compiled::parameter_count>({"capsules.weights", capsules_weights, capsules_weights_end})};

  auto const set = digits::held_out({"capsules.expected", capsules_expected, capsules_expected_end});
  int right = 0, agreeing = 0;
  float difference = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    std::array<float, 8 * 8> image;
    std::ranges::transform(set.images[i], image.begin(), [](int pixel) { return float(pixel) / 16; });
    digits::scores lengths;
    net(image, lengths);

    int const longest = int(std::ranges::max_element(lengths) - lengths.begin());
    right += longest == set.labels[i];
    agreeing += longest == set.expected_classes[i];
    for (std::size_t k = 0; k < lengths.size(); ++k)
      if (float const d = std::fabs(lengths[k] - set.expected_logits[i][k]); !(d <= difference)) difference = d;
  }

  int const count = int(set.images.size());
  std::printf("%d parameters, %d bytes of arena, %d steps, %s\n", int(net.parameter_count), int(net.arena_bytes),
              int(net.steps), ago::name_of(net.target));
  std::printf("accuracy %.2f %%: %d of %d held-out images\n", 100. * right / count, right, count);
  std::printf("same class as PyTorch: %d of %d, largest difference of a length %.1e\n", agreeing, count,
              double(difference));
  return agreeing == count && difference < 1e-5f ? 0 : 1;
}
