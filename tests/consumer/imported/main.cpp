// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The imported network has the right number of weights.
#include <ago/network/parameters.hpp>
#include <edges.hpp>

#include <cstdio>

extern "C" {
extern unsigned char const edges_weights[], edges_weights_end[];
}

int main() {
  int const bytes = int(edges_weights_end - edges_weights), parameters = ago::parameter_count<edges::network>;
  std::printf("%d bytes for %d parameters\n", bytes, parameters);
  return bytes == 4 * parameters ? 0 : 1;
}
