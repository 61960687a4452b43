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
  int count = 0;

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
    count = 0;
  }

 private:
  int readers_[slots<F>]{};  ///< in the forward part
  bool later_[slots<F>]{};   ///< does the backward part read it?

  /// Marks v and the operators before it that nothing else reads, up to values that are kept anyhow, or are small.
  template <int V, int E, int O>
  constexpr bool find_run(graph<V, E, O> const& g, int v) {
    int length = 0, u = v;
    for (int next = v; next >= 0; ++length) {
      u = next;
      if (!is_light(g.nodes[u].kind)) return false;
      next = -1;
      for (int k = 0; k < g.nodes[u].input_count; ++k) {
        int const w = g.operand(u, k);
        if (later_[w] || 16 * g.nodes[w].out.count() <= g.nodes[v].out.count()) continue;
        if (next >= 0 || w < g.input_count || readers_[w] != 1) return false;
        next = w;
      }
    }
    for (int w = v;; w = inner(g, w)) {
      of[w] = true;
      ++count;
      if (w == u) return true;
    }
  }
  /// The operand of an operator of a run that belongs to it.
  template <int V, int E, int O>
  constexpr int inner(graph<V, E, O> const& g, int v) const {
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      if (int const w = g.operand(v, k); !later_[w] && 16 * g.nodes[w].out.count() > g.nodes[v].out.count()) return w;
    return -1;
  }
};

}  // namespace ago::learning
