// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that the plans of all policies move beyond the L2 of a device.
#pragma once

#include "large_stack.hpp"

#include <ago/graph/optimized.hpp>
#include <ago/partition/device.hpp>

namespace bench {

using roomy_graph = ago::graph<1024, 3072, 8>;

/// Prints a row: megabytes for each policy.
void print_moved(char const* name, int size, roomy_graph const& g, ago::device const& on);

template <auto const& Net>
void print_moved(char const* name, int size, ago::device const& on) {
  on_large_stack(std::size_t{512} << 20, [&] {
    print_moved(name, size, ago::fit<1024, 3072, 8>(ago::optimized<Net>::value), on);
  });
}

}  // namespace bench
