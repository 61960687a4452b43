// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorial 6: a plan is a value: checks and prints the plan of examples/digits.
// [program]
#include "digits/network.hpp"

#include <cstdio>

using compiled = ago::program<digits::network>;
constexpr auto const& plan = compiled::partition;

static_assert(plan.subgraphs.acyclic);  // the subgraphs can run one after another
static_assert(plan.minis.count == 10);  // 8 convolutions, the pooling, the classifier: activations need no pass
static_assert(compiled::arena_bytes == 20 * 1024);

int main() {
  std::printf("%d operators in %d mini-subgraphs\n", plan.minis.operators, plan.minis.count);
  for (int step = 0; step < compiled::steps; ++step) {
    for (int part = compiled::first_part(step); part < compiled::first_part(step + 1); ++part) {
      auto const& [key, data, packing, nodes, signature, tuned] = compiled::plan.steps[part];
      std::printf("step %d: %-15s %dx%dx%d > %dx%dx%d\n", step, name_of(key.what), data.in.h, data.in.w, data.in.c,
                  data.out.h, data.out.w, data.out.c);
    }
  }
}
// [/program]
