// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 1: a network of two layers, with weights written by hand, that computes exclusive or.
// [program]
#include <ago/ago.hpp>

#include <cstdio>

inline constexpr auto exclusive_or = ago::input{.c = 2} | ago::linear{2} | ago::relu{} | ago::linear{1};

using gate = ago::model<exclusive_or>;
static_assert(gate::parameter_count == 9);

int main() {
  constexpr float weights[] = {1, 1,  1, 1,  // the first layer's weights, [out][in]: a + b, twice
                               0, -1,        // its biases
                               1, -2,        // the second layer's weights: h0 - 2 h1
                               0};           // its bias
  static gate net{weights};
  for (float const a : {0.f, 1.f}) {
    for (float const b : {0.f, 1.f}) {
      float const in[] = {a, b};
      float out[1];
      net(in, out);
      std::printf("%g xor %g = %g\n", double(a), double(b), double(out[0]));
    }
  }
}
// [/program]
