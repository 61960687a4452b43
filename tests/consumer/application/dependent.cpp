// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An application of a library that uses ago internally and in its interface.
#include <classifier.hpp>

#include <cstdio>

int main() {
  static_assert(classifier::model::arena_bytes < 1024);
  float const image[] = {1, 2, 3, 6};
  auto const best = classifier::classify(image);
  std::printf("%d\n", best);
  return best == 0 ? 0 : 1;
}
