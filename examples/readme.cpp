// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/ago.hpp>

#include <algorithm>
#include <cstdio>

using namespace ago;

constexpr auto separable(int out, int stride) {
  return depthwise{.kernel = 3, .stride = stride, .pad = 1} | batch_norm{} | relu6{} | pointwise{out} | batch_norm{} |
         relu6{};
}
inline constexpr auto network = input{.h = 8, .w = 8, .c = 1} | conv2d{.out = 16, .kernel = 3, .pad = 1} |
                                batch_norm{} | relu6{} | separable(32, 1) | separable(64, 2) |
                                residual{pointwise{128} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} |
                                         batch_norm{} | relu6{} | pointwise{64} | batch_norm{}} |
                                global_avg_pool{} | linear{10};

using classifier = model<network>;
static_assert(classifier::arena_bytes <= 20 * 1024);  // known before it runs

extern "C" float const digits_weights[classifier::parameter_count];  // trained with PyTorch, linked in by ago_embed()

int main() {
  constexpr char picture[] =
      "    #.  "
      "   ++   "
      "  ++    "
      " .#   . "
      " #.  #+ "
      " #####. "
      " .++#+  "
      "   .#   ";
  float image[64], scores[10];
  for (int i = 0; i < 64; ++i)
    image[i] = picture[i] == '#' ? 1.f : picture[i] == '+' ? .6f : picture[i] == '.' ? .3f : 0.f;

  static classifier net{digits_weights};
  net(image, scores);
  auto const digit = std::max_element(scores, scores + 10) - scores;
  std::printf("This is a %d. %zu parameters, %zu bytes of arena, %d steps\n", int(digit), net.parameter_count,
              net.arena_bytes, net.steps);
  return digit == 4 ? 0 : 1;
}
