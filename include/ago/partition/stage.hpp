// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Topological stages (AGO Definition 2).
#pragma once

#include <ago/partition/order.hpp>

namespace ago::partition {

template <int V>
struct topological_stages {
  array_of<int, slots<V>> of{};
};

/// The number of nodes on the longest path that ends in each node, from any root: roots have stage 1. Stages from a
/// single root, as the paper's wording suggests, would leave nodes of other roots unordered, and contraction by such
/// stages creates cycles.
template <int V, int E>
constexpr topological_stages<V> stages_of(dag<V, E> const& d) {
  topological_stages<V> s;
  execution_order<V> const sorted = order_of(d);
  for (int i = 0; i < sorted.count; ++i) {
    int const v = sorted.order[i];
    s.of[v] = 1;
    for (int e = d.first[v]; e < d.first[v + 1]; ++e)
      s.of[v] = s.of[d.source[e]] + 1 > s.of[v] ? s.of[d.source[e]] + 1 : s.of[v];
  }
  return s;
}

}  // namespace ago::partition
