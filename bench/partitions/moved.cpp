// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moved.hpp"

#include <tools/inspect/graph_plan.hpp>

#include <cstdio>

namespace bench {

void print_moved(char const* name, int size, roomy_graph const& g, ago::device const& on) {
  std::printf("| %s | %d |", name, size);
  for (int i = 0; i < ago::partition::policies; ++i) {
    auto const plan = ago::tools::plan_of(g, {.target = ago::isa::neon, .policy = ago::policy(i), .device = on});
    auto const moved = plan->moved();
    ago::plan::moved_bytes sum;
    for (int k = 0; k < plan->steps(); ++k) sum += moved.of[k];
    std::printf(" %.1f |", sum.beyond_l2 / 1e6);
  }
  std::puts("");
}

}  // namespace bench
