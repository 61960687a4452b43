// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/ago.hpp>

#include <cstdio>

using namespace ago;

constexpr auto separable(int out, int stride) {
  return depthwise{.kernel = 3, .stride = stride, .pad = 1} | batch_norm{} | relu6{}
       | pointwise{out} | batch_norm{} | relu6{};
}
inline constexpr auto network = input{.h = 64, .w = 64, .c = 3}
    | conv2d{.out = 16, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{}
    | separable(32, 1) | residual{separable(32, 1)} | separable(64, 2)
    | global_avg_pool{} | linear{10};

using classifier = model<network>;
static_assert(classifier::arena_bytes == 384 * 1024);  // known before it runs: three values of 32 x 32 x 32

int main() {
  static float weights[classifier::parameter_count], image[classifier::input_size()], scores[10];
  for (float& w : weights) w = .05f;  // yours come from a training
  for (float& x : image) x = 1;

  static classifier net{weights};
  net(image, scores);
  std::printf("%zu parameters, %zu bytes of arena, %d subgraphs in %d steps\n", net.parameter_count, net.arena_bytes,
              net.subgraphs, net.steps);
  std::printf("scores %.4f ... %.4f\n", scores[0], scores[9]);
}
