// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same network with weights packed at build time: the program contains them once and no planning data.
#include "data.hpp"

#include <digits_packed.hpp>

#include <algorithm>
#include <cstdio>

// [model]
#include "network.hpp"

static ago::model<digits::network, ago::untuned, ago::packed> net{digits_packed};
// [/model]

int main() {
  static_assert(sizeof net < decltype(net)::arena_bytes + 128);  // no weights inside

  auto const set = digits::held_out();
  int agreeing = 0;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    std::array<float, 8 * 8> image;
    std::ranges::transform(set.images[i], image.begin(), [](int pixel) { return float(pixel) / 16; });
    digits::scores logits;
    net(image, logits);
    agreeing += std::ranges::max_element(logits) - logits.begin() == set.expected_classes[i];
  }
  std::printf("packed for %s; same class as PyTorch: %d of %zu\n", ago::name_of(net.target), agreeing,
              set.images.size());
  return agreeing == int(set.images.size()) ? 0 : 1;
}
