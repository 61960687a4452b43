// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that the plans of all policies move beyond the L2 of a device.
#pragma once

#include "scaling.hpp"

#include <ago/graph/optimized.hpp>
#include <tools/inspect/run_time_program.hpp>

#include <cstdio>

namespace bench {

using roomy_graph = ago::graph<1024, 3072, 8>;

/// Prints a row: megabytes for each policy.
inline void print_moved(char const* name, int size, roomy_graph const& g, ago::device const& on) {
  std::printf("| %s | %d |", name, size);
  for (int i = 0; i < ago::policies; ++i) {
    ago::tools::run_time_program const program(g, ago::options(ago::isa::neon, ago::policy(i), on));
    auto const moved = program.moved();
    ago::moved_bytes sum;
    for (int k = 0; k < program.steps(); ++k) sum += moved->of[k];
    std::printf(" %.1f |", sum.beyond_l2 / 1e6);
  }
  std::puts("");
}

template <auto const& Net>
void print_moved(char const* name, int size, ago::device const& on) {
  on_large_stack(std::size_t{512} << 20, [&] {
    print_moved(name, size, ago::fit<1024, 3072, 8>(ago::optimized<Net>::value), on);
  });
}

}  // namespace bench
