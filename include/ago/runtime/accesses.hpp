// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the steps of a plan read and write.
#pragma once

#include <ago/runtime/pack.hpp>

namespace ago::runtime {

/// For each step, calls read(step, place, shape) for the values that it reads, packed(step, parameter_source) for the
/// parameters that are packed for it, and written(step, place) for what it writes.
template <int V, int E, int O, int S, int N, int M>
constexpr void for_each_access(graph<V, E, O> const& g, fusion_list<S> const& groups, memory_plan<V> const& memory,
                               execution_plan<N> const& plan, merged_packings<M> const& merged, auto const& read,
                               auto const& packed, auto const& written) {
  for (int i = 0; i < N; ++i) {
    planned_step const& p = plan.steps[i];
    int const k = groups.group_of[i];
    for_each_read(p.nodes, [&](int v, int) { read(k, memory.at[v], g.nodes[v].out); });
    auto const pack = [&](auto const& x) { packed(k, x.from); };
    for_each_packing(i, p, nullptr, merged, pack, pack);
    if (p.nodes.copy_to_output < 0) written(k, memory.at[p.nodes.result]);
    else written(k, place{place::area::output, std::uint16_t(p.nodes.copy_to_output)});
  }
}

}  // namespace ago::runtime
