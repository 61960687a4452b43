// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a graph of one type for all networks, so that what plans it is compiled once.
#pragma once

#include <ago/passes/optimized.hpp>

namespace bench {

using roomy_graph = ago::ir::graph<1024, 3072, 8>;

/// Calls work(graph) with the network after the passes.
template <auto const& Net>
void with_roomy_graph(auto const& work) {
  work(ago::passes::fit<1024, 3072, 8>(ago::passes::optimized<Net>::value));
}

}  // namespace bench
