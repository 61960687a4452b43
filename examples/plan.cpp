// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the plan of MobileNet-V2: steps, their parts, and the places of values.
#include <ago/ago.hpp>

#include "networks/mobilenet_v2.hpp"

#include <cstdio>

using compiled = ago::program<networks::mobilenet_v2<224>>;

// [partition]
constexpr auto const& graph = compiled::graph;          // operators, after the passes
constexpr auto const& p = compiled::partition;          // p.subgraphs, p.minis, p.chain_of
static_assert(p.subgraphs.acyclic && p.minis.acyclic);  // can run one after another
static_assert(p.minis.count == 54);                     // 53 convolutions and matrix products, and the pooling
// [/partition]

static_assert(compiled::arena_bytes < 2 << 20);

int main() {
  std::printf("%d operators, %d subgraphs, %d steps, %zu bytes of arena\n", p.minis.operators, p.subgraphs.count,
              compiled::steps, compiled::arena_bytes);
  for (int i = 0; i < compiled::steps; ++i) {
    auto const [how, tile] = compiled::tiling_of(i);
    std::printf("%2d", i);
    for (int k = compiled::first_part(i); k < compiled::first_part(i + 1); ++k) {
      auto const& [key, data, packing, nodes, signature, tuned] = compiled::plan.steps[k];
      std::printf("%s %s %dx%d %d>%d, tile %dx%d", k > compiled::first_part(i) ? " |" : ":", name_of(key.what),
                  data.out.h, data.out.w, data.in.c, data.out.c, key.tile.pixels, key.tile.vectors);
    }
    if (how != ago::tiling::none) std::printf(", by %s", name_of(how));
    if (tile > 0) std::printf(", %d at a time", tile);
    std::printf("\n");
  }
}
