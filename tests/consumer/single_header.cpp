// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the exact bits of a small network's results, with ago's headers or the one that scripts/amalgamate generates.
#include <ago/ago.hpp>

#include <cstdio>

using namespace ago;

inline constexpr auto network = input{.h = 7, .w = 5, .c = 3} | pointwise{8} | batch_norm{} | relu6{} | pointwise{9} |
                                hard_swish{} | global_avg_pool{} | linear{4};

int main() {
  static float weights[model<network>::parameter_count], image[model<network>::input_size()], answers[4];
  unsigned state = 1;
  auto const next = [&] { return float((state = state * 1664525 + 1013904223) >> 9) * 0x1p-23f; };
  for (float& w : weights) w = next() + .1f;  // variances, too
  for (float& x : image) x = next();
  static model<network> net{weights};
  net(image, answers);
  for (float const x : answers) std::printf("%a\n", double(x));
}
