// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing of a user's weights.
#pragma once

#include <ago/kernel/pack_step.hpp>
#include <ago/plan/plan.hpp>

#include <cstring>

namespace ago::runtime {

/// Trained values that are operands, which are copied unchanged to a place before the weights of all steps.
struct constant_packing {
  long from{}, to{}, floats{};

  void pack(float const* blob, float* packed) const {
    std::memcpy(packed + to, blob + from, std::size_t(floats) * sizeof(float));
  }
};

/// Calls f(constant_packing) for each of them.
template <int V, int E, int O>
constexpr void for_each_constant(graph<V, E, O> const& g, memory_plan<V> const& memory, auto const& f) {
  for (int v = g.input_count; v < g.node_count; ++v)
    if (node const& n = g.nodes[v]; n.kind == op::constant && memory.at[v].in == place::area::weights)
      f(constant_packing{n.weight, memory.at[v].offset, n.out.count()});
}
template <int V, int E, int O>
void pack_constants(graph<V, E, O> const& g, memory_plan<V> const& memory, float const* blob, float* packed) {
  for_each_constant(g, memory, [&](constant_packing const& c) { c.pack(blob, packed); });
}

/// Calls pack_main(operator_packing) and pack_after(stage_packing) for all that is to be packed for part `i` of a plan,
/// whose input runs are `runs`, and for the siblings merged into it.
template <int N>
constexpr void for_each_packing(int i, planned_step const& part, input_run const* runs,
                                merged_packings<N> const& merged, auto const& pack_main, auto const& pack_after) {
  auto const all_from = [&](packing_data const& from) {
    if (packs_weights(part.key)) pack_main(operator_packing{part.key, {part.data, runs}, from.main});
    for_each_packed_stage(part.key, part.data, from, pack_after);
  };
  all_from(part.packing);
  for (merged_packing const& m : merged)
    if (m.step == i) all_from(m.from);
}

/// Packs all of it.
template <isa I, int N>
void pack_part(int i, planned_step const& part, merged_packings<N> const& merged, float const* blob, float* packed) {
  for_each_packing(
      i, part, part.data.runs, merged, [&](operator_packing const& o) { pack_operator<I, true>(o, blob, packed); },
      [&](stage_packing const& s) { pack_stage<I>(s, blob, packed); });
}

/// All that is to be packed for a program, in order: what is left of its plan when it runs.
template <int Constants, int Operators, int Stages>
struct packing_list {
  constant_packing constants[Constants > 0 ? Constants : 1]{};
  operator_packing operators[Operators > 0 ? Operators : 1]{};
  stage_packing stages[Stages > 0 ? Stages : 1]{};

  template <isa I, bool Contracts>
  void pack(float const* blob, float* packed) const {
    for (int i = 0; i < Constants; ++i) constants[i].pack(blob, packed);
    pack_operators<I, Contracts>(0, Operators, blob, packed);
    pack_stages<I>(0, Stages, blob, packed);
  }
  /// A range of them.
  template <isa I, bool Contracts>
  void pack_operators(int first, int last, float const* blob, float* packed) const {
    for (int i = first; i < last; ++i) pack_operator<I, Contracts>(operators[i], blob, packed);
  }
  template <isa I>
  void pack_stages(int first, int last, float const* blob, float* packed) const {
    for (int i = first; i < last; ++i) pack_stage<I>(stages[i], blob, packed);
  }
};

}  // namespace ago::runtime
