// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A policy whose two subgraphs need each other's results.
// expect: ago: the policy's subgraphs or mini-subgraphs need each other's results, so that none can run first
#include <ago/runtime/program.hpp>

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;

struct every_other {
  template <int V, int E, int O>
  static constexpr partitions<V> partition(graph<V, E, O> const& g, device const& on) {
    grouping<V> subgraphs = atoms_of(g);
#ifndef AGO_POSITIVE
    for (int& group : subgraphs.of) group %= 2;
    subgraphs.count = 2;
#endif
    return partition_into(g, subgraphs, on);
  }
};

inline constexpr auto net =
    input{.h = 8, .w = 8, .c = 3} | pointwise{16} | pointwise{16} | pointwise{16};
static_assert(program<net, untuned, every_other{}>::steps == 3);
