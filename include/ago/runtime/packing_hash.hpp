// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The signature of packed weights: a hash of everything that determines their bytes, except the weights themselves.
#pragma once

#include <ago/ir/hash.hpp>
#include <ago/plan/plan.hpp>
#include <ago/version.hpp>

#include <bit>

namespace ago::runtime {

/// Hashes a plan: its graph, through the signatures of the steps, which include instruction set and shapes; its layout;
/// and the version of ago.
class packing_hash {
 public:
  template <int V, int E, int O>
  constexpr packing_hash(graph<V, E, O> const& g, memory_plan<V> const& memory, std::size_t packed_floats) {
    add(version.major).add(version.minor).add(version.patch).add(g.parameters).add(long(packed_floats));
    for (int v = 0; v < g.node_count; ++v)
      if (g.nodes[v].kind == op::constant) add(g.nodes[v].weight).add(memory.at[v].offset).add(g.nodes[v].out.count());
  }
  /// Adds a part of a step; `data`: as used for packing.
  constexpr void mix(planned_step const& part, planned_data const& data) {
    kernel_key const& k = part.key;
    h_.mix(part.signature);
    add(int(k.what)).add(int(k.target)).add(k.tile.pixels).add(k.tile.vectors).add(k.tile.vectors_left).add(k.paired);
    add(k.in_runs).add(k.points_first).add(data.weights).add(data.groups);
    h_.mix(data.in);
    h_.mix(data.out);
    for (int i = 0; data.runs && i < data.run_count; ++i)
      add(data.runs[i].count).add(data.runs[i].start).add(data.runs[i].step);
    if (k.factors != factor_layout::chosen) add(int(k.factors));
    for (int i = 0; i < k.after.count(); ++i) add(int(k.after.stages[i].kind)).add(data.after[i].parameters);
    mix(0, part.packing);
  }
  /// Adds further weights that are packed for part number `part`.
  constexpr void mix(int part, packing_data const& from) {
    add(part);
    mix(from.main);
    for (parameter_source const& s : from.after) mix(s);
  }
  constexpr std::uint64_t value() const { return h_.value; }

 private:
  constexpr void mix(parameter_source const& s) {
    add(s.weight).add(s.norm).add(s.shift).add(s.shift_norm).add(s.start).add(s.step).add(s.of);
    add(s.scatter.kernel_h).add(s.scatter.kernel_w).add(s.scatter.stride_h).add(s.scatter.stride_w);
    add(s.scatter.dilation_h).add(s.scatter.dilation_w).add(std::bit_cast<int>(s.epsilon));
  }
  constexpr packing_hash& add(long x) {
    h_.mix(std::uint64_t(x));
    return *this;
  }

  value_hash h_;
};

}  // namespace ago::runtime
