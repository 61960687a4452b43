// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the forward part that are computed again because that takes less time than to keep them: normalised values
// and activations of what the backward part reads anyhow. The forward part then computes them a few rows at a time,
// right before the only operator that reads them (partition/chains.hpp).
#pragma once

#include <ago/learning/computed_again.hpp>
#include <ago/partition/device.hpp>

namespace ago::learning {

/// Is it elementwise, and a few instructions for each register?
constexpr bool is_light(op kind) {
  ir::op_class const of = ir::class_of(kind);
  return of == ir::op_class::parametric || of == ir::op_class::arithmetic || of == ir::op_class::commutative ||
         of == ir::op_class::ordered;
}

/// Those of a forward part of F nodes, if they do not all stay in L2 until they are needed.
template <int F>
class light_values {
 public:
  bool of[slots<F>]{};

  template <int V, int E, int O>
  constexpr light_values(graph<V, E, O> const& g, device const& on) {
    for (int v = g.input_count; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count; ++k)
        if (int const u = g.operand(v, k); u < F) v < F ? void(++readers_[u]) : void(later_[u] = true);
    for (int o = 0; o < g.output_count; ++o)
      if (g.outputs[o] < F) readers_[g.outputs[o]] = 2;
    long bytes = 0;
    for (int v = g.input_count; v < F; ++v)
      if (later_[v] && readers_[v] == 1 && find_run(g, v)) bytes += 4 * g.nodes[v].out.count();
    if (bytes > on.l2_bytes / 2) return;
    for (bool& again : of) again = false;
  }

 private:
  int readers_[slots<F>]{};  ///< in the forward part
  bool later_[slots<F>]{};   ///< does the backward part read it?

  static constexpr int none = -1, several = -2;

  /// Marks v and the operators before it that nothing else reads, up to values that are there anyhow.
  template <int V, int E, int O>
  constexpr bool find_run(graph<V, E, O> const& g, int v) {
    int u = v;
    for (; u >= 0; u = before(g, u))
      if (!is_light(g.nodes[u].kind)) return false;
    if (u == several) return false;
    for (u = v; u != none; u = before(g, u)) of[u] = true;
    return true;
  }
  /// The operand of v that would have to be computed again, too.
  template <int V, int E, int O>
  constexpr int before(graph<V, E, O> const& g, int v) const {
    int r = none;
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const u = g.operand(v, k);
      bool const is_small = 16 * g.nodes[u].out.count() <= g.nodes[v].out.count();
      if (u < g.input_count || g.nodes[u].kind == op::constant || later_[u] || is_small) continue;
      if (r != none || readers_[u] != 1) return several;
      r = u;
    }
    return r;
  }
};

}  // namespace ago::learning
