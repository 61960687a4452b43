// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing of a user's weights.
#pragma once

#include <ago/kernel/pack_step.hpp>
#include <ago/plan/plan.hpp>

#include <cstring>

namespace ago {

/// Copies trained values that are operands, unchanged, to a place before the weights of all steps; if all parameters
/// are there, these, unless `blob` is that place.
template <int V, int E, int O>
void pack_constants(graph<V, E, O> const& g, memory_plan<V> const& memory, float const* blob, float* packed) {
  if (memory.keeps_parameters && packed != blob) std::memcpy(packed, blob, std::size_t(g.parameters) * sizeof(float));
  for (int v = g.input_count; v < g.node_count && !memory.keeps_parameters; ++v) {
    node const& n = g.nodes[v];
    if (n.kind != op::constant) continue;
    std::memcpy(packed + memory.at[v].offset, blob + n.weight, std::size_t(n.out.count()) * sizeof(float));
  }
}

/// Packs the weights of part `i` of a plan, whose data is `data`, and of the siblings merged into it. `Contracts`: it
/// may be a contraction.
template <isa I, bool Contracts, int N>
void pack_part(int i, planned_step const& part, planned_data const& data, merged_packings<N> const& merged,
               float const* blob, float* packed) {
  pack_step<I, Contracts>(part.key, data, part.packing, blob, packed);
  for (merged_packing const& m : merged)
    if (m.step == i) pack_step<I, false>(part.key, data, m.from, blob, packed);
}

}  // namespace ago
