// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares a policy of one's own with the library's, on a network for a Cortex-A55.
#include "by_resolution.hpp"

#include <ago/runtime/planned.hpp>
#include <networks/mobilenet_v2.hpp>

#include <cstdio>

using namespace ago;

template <options_for Options>
void print(char const* name) {
  using planned = ago::planned<networks::mobilenet_v2<224>, untuned, Options>;
  constexpr auto moved = planned::moved();
  constexpr auto predicted = planned::predicted();
  double bytes = 0, milliseconds = 0;
  for (int k = 0; k < planned::steps; ++k) {
    bytes += moved.of[k].beyond_l2;
    milliseconds += microseconds(predicted[std::size_t(k)].sum(), Options.device) / 1000;
  }
  std::printf("%-13s  %2d subgraphs, %2d steps, %5.1f MB from beyond L2, %5.1f ms predicted\n", name,
              planned::subgraphs, planned::steps, bytes / 1e6, milliseconds);
}

int main() {
  print<options{.target = isa::neon, .device = cortex_a55}>("ago");
  print<options_for(by_resolution{}, {.target = isa::neon, .device = cortex_a55})>(by_resolution::name);
  print<options{.target = isa::neon, .policy = policy::fuse_ops, .device = cortex_a55}>("fuse-ops");
}
