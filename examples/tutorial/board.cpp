// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 5: firmware: memory known at compile time, checked calls, a model shared by threads.
// [program]
#include "ring.hpp"

#include <cstdio>

using classifier = ago::model<tutorial::ring>;
static_assert(classifier::arena_bytes <= 256);  // the build fails if the network outgrows the board
extern "C" float const ring_weights[classifier::parameter_count];

/// Several threads may call this at once: the model is const, and each call has a workspace of its own.
ago::status classify(classifier const& net, std::span<float const> point, std::span<float> score) {
  classifier::workspace memory;
  return net.try_run_in(memory, point, score);
}

int main() {
  static classifier const net{ring_weights};
  float const points[3] = {.6f, .5f, 0};
  float score[1];
  std::printf("two coordinates: %s", name_of(classify(net, {points, 2}, score)));
  std::printf(", %s\n", score[0] > 0 ? "on the ring" : "elsewhere");
  std::printf("three coordinates: %s\n", name_of(classify(net, points, score)));
}
// [/program]
