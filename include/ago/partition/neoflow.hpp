// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NeoFlow's partitioner: operators are fused greedily by a reward that weighs what a kernel computes again against what
// it need not move (NeoFlow, section 5.1, Eq. (4)).
#pragma once

#include <ago/partition/chains.hpp>
#include <ago/partition/cluster.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/recomputation.hpp>
#include <ago/passes/opening.hpp>

namespace ago::partition {

/// What a fusion changes, positive where it gains.
struct fusion_gain {
  std::int64_t bytes{};       ///< that are not moved any more
  std::int64_t operations{};  ///< that are not computed any more; negative: computed again
  int kernels{};              ///< that are not started any more
};

/// Eq. (4), in units of 1 / (64 * on.multiply_adds) quarter cycles, in which it is an integer: bytes at the bandwidth
/// beyond L2, operations at the peak of the core, and the start of a step for each kernel.
constexpr std::int64_t reward_of(fusion_gain const& gain, device const& on) {
  return gain.bytes * on.line_from_memory * on.multiply_adds + gain.operations * 4 * 64 +
         std::int64_t(gain.kernels) * on.step_start * 64 * on.multiply_adds;
}

/// The operations of operator v: the product of its loop extents, times those of a lengthy function.
constexpr std::int64_t operations_of(graph_view g, int v, device const& on) {
  loop_extents const loops = loops_of(g, v);
  op const kind = g.nodes[v].kind;
  std::int64_t r = is_lengthy(kind) || class_of(kind) == op_class::norm ? on.function_operations : 1;
  for (int i = 0; i < loops.count; ++i) r *= loops.extent[i];
  return r;
}

/// The most operators of one kernel: a complex one, its bias, its epilogue.
inline constexpr int max_in_kernel = max_followers + 2;

/// The values that a kernel reads from memory, without repetitions.
struct values_read {
  int value[2 * max_in_kernel]{};
  int count = 0;

  constexpr bool has(int v) const {
    for (int i = 0; i < count; ++i)
      if (value[i] == v) return true;
    return false;
  }
  constexpr void add(int v) {
    if (!has(v)) value[count++] = v;
  }
};

/// The kernel that stores a value, as a producer.
struct producing_kernel {
  values_read reads;
  std::int64_t operations = 0;
  int length = 0, stages = 0;
  bool has_main = false;   ///< it begins with loops of its own, not with an elementwise operator
  bool repeatable = true;  ///< it has no parameters, which would be packed for every copy
};

/// Decides which values are not stored. Decisions are kept in a binary heap, the best one first. A decision changes the
/// rewards of few others: those of the kernels that it prolongs, and of the values that these read.
template <int V, int E, int O>
struct greedy_fusion {
  graph<V, E, O> const& g;
  device const& on;
  bool repeats;  ///< may operators be computed again?
  kernel_paths<V> kernels;
  reading_edges<V, E> edges;
  value_uses<V> uses;
  array_of<std::int64_t, slots<V>> reward{};
  array_of<int, slots<V>> heap{}, place{};
  int waiting = 0;  // place: in the heap, plus one; 0: not in it

  constexpr greedy_fusion(graph<V, E, O> const& of, device const& device, bool repeat)
      : g(of), on(device), repeats(repeat), kernels(of), edges(of), uses(of) {
    for (int v = g.input_count; v < g.node_count; ++v) update(v);
    while (waiting > 0) apply(heap[0]);
  }

  static constexpr bool has_parameters(op kind) {
    return has_weights(kind) || is_parametric(kind) || kind == op::layer_norm || kind == op::embedding;
  }

  /// Can elementwise operator v follow a main operator? Only the elementwise kernel processes images one by one.
  constexpr bool follows_main(int v) const {
    node const& n = g.nodes[v];
    if (n.out.n == 1) return true;
    if (n.kind == op::positions) return false;
    for (int k = 0; k < n.input_count; ++k) {
      shape const& s = g.source(v, k).out;
      if (s.n != n.out.n || s.h != n.out.h || s.w != n.out.w) return false;
    }
    return true;
  }

  constexpr producing_kernel kernel_of(int p) const {
    producing_kernel r;
    for (int v = p; v >= 0; v = kernels.before[v]) {
      node const& n = g.nodes[v];
      int const from = kernels.before[v];
      for (int k = 0; k < n.input_count; ++k)
        if (int const u = g.operand(v, k); u != from) r.reads.add(u);
      r.operations += operations_of(g, v, on);
      r.repeatable = r.repeatable && !has_parameters(n.kind);
      bool const elementwise = is_elementwise(n.kind);
      r.stages += elementwise && !starts_accumulators(v);
      r.has_main = !elementwise && n.kind != op::identity;
      ++r.length;
    }
    return r;
  }
  /// Is v a bias directly after a complex operator in its kernel? If so, it takes no room.
  constexpr bool starts_accumulators(int v) const {
    int const u = kernels.before[v];
    return u >= 0 && g.nodes[v].kind == op::bias && has_weights(g.nodes[u].kind);
  }

  /// Calls f(end) for the stored results of all kernels that begin with v, until it returns false.
  constexpr bool each_kernel_from(int v, auto const& f) const {
    if (kernels.stored[v]) return f(v);
    for (int e = edges.first[v]; e >= 0; e = edges.next[e])
      if (!each_kernel_from(edges.reader[e], f)) return false;
    return true;
  }

  /// Can the kernel that begins with reader v of p, and stores `end`, begin with `k` instead? Accounts for the change.
  constexpr bool joins(producing_kernel const& k, int p, int v, int end, fusion_gain& gain) const {
    values_read reads;
    int stages = k.stages;
    for (int u = end; u >= 0; u = kernels.before[u]) {
      if (k.has_main && !follows_main(u)) return false;
      for (int i = 0; i < g.nodes[u].input_count; ++i)
        if (int const w = g.operand(u, i); w != kernels.before[u]) reads.add(w);
      ++stages;
    }
    stages -= k.length == 1 && has_weights(g.nodes[p].kind) && g.nodes[v].kind == op::bias;
    if (stages > max_followers) return false;
    gain.bytes += bytes(g.nodes[p].out);
    for (int i = 0; i < k.reads.count; ++i)
      if (int const w = k.reads.value[i]; !reads.has(w)) gain.bytes -= bytes(g.nodes[w].out);
    gain.operations -= k.operations;
    return true;
  }

  /// The reward of not storing p, but computing it in every kernel that reads it; 0 if one of them cannot.
  constexpr std::int64_t reward_of_fusing(int p) const {
    if (!kernels.stored[p] || uses.is_output[p] || edges.first[p] < 0 || !takes_epilogue(g.nodes[p].kind)) return 0;
    for (int e = edges.first[p]; e >= 0; e = edges.next[e]) {
      int const v = edges.reader[e];
      if (kernels.before[v] >= 0 || !is_elementwise(g.nodes[v].kind) || g.nodes[v].out != g.nodes[p].out) return 0;
      if (edges.next[e] >= 0 && (edges.reader[edges.next[e]] == v || !repeats)) return 0;  // registers have one operand
    }
    producing_kernel const k = kernel_of(p);
    fusion_gain gain{bytes(g.nodes[p].out), k.operations, 1};
    for (int i = 0; i < k.reads.count; ++i) gain.bytes += bytes(g.nodes[k.reads.value[i]].out);
    int copies = 0;
    for (int e = edges.first[p]; e >= 0; e = edges.next[e])
      if (!each_kernel_from(edges.reader[e], [&](int end) {
            return (++copies == 1 || (repeats && k.repeatable)) && joins(k, p, edges.reader[e], end, gain);
          }))
        return 0;
    std::int64_t const r = ago::partition::reward_of(gain, on);
    return r > 0 ? r : 0;
  }

  constexpr void apply(int p) {
    kernels.stored[p] = false;
    for (int e = edges.first[p]; e >= 0; e = edges.next[e]) kernels.before[edges.reader[e]] = p;
    int head = p;
    while (kernels.before[head] >= 0) head = kernels.before[head];
    update(p);
    update_operands(head);
    for (int e = edges.first[p]; e >= 0; e = edges.next[e]) {
      update_operands(edges.reader[e]);
      each_kernel_from(edges.reader[e], [&](int end) {
        update(end);
        return true;
      });
    }
  }
  constexpr void update_operands(int v) {
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      if (int const u = g.operand(v, k); u >= g.input_count) update(u);
  }

  constexpr void update(int v) {
    reward[v] = reward_of_fusing(v);
    if (reward[v] == 0 && place[v] == 0) return;
    if (place[v] == 0) put(v, waiting++);
    if (reward[v] == 0) {
      int const hole = place[v] - 1, last = heap[--waiting];
      place[v] = 0;
      if (last == v) return;
      put(last, hole);
      v = last;
    }
    rise(v);
    sink(v);
  }
  constexpr void put(int v, int at) {
    heap[at] = v;
    place[v] = at + 1;
  }
  constexpr bool better(int a, int b) const { return reward[a] != reward[b] ? reward[a] > reward[b] : a < b; }
  constexpr void rise(int v) {
    int i = place[v] - 1;
    for (; i > 0 && better(v, heap[(i - 1) / 2]); i = (i - 1) / 2) put(heap[(i - 1) / 2], i);
    put(v, i);
  }
  constexpr void sink(int v) {
    int i = place[v] - 1;
    for (int child = 2 * i + 1; child < waiting; child = 2 * i + 1) {
      if (child + 1 < waiting && better(heap[child + 1], heap[child])) ++child;
      if (!better(heap[child], v)) break;
      put(heap[child], i);
      i = child;
    }
    put(v, i);
  }
};

/// The kernels of `g` by greedy fusion: every operator starts as a kernel of its own; then, as long as any reward is
/// positive, the value with the largest one (ties: the first) is not stored, but computed in all kernels that read it.
/// Only fusions that one kernel of this library computes are considered. `repeats` false: no operator is computed
/// again, so that only values with one reader are fused.
template <int V, int E, int O>
constexpr kernel_paths<V> neoflow_kernels(graph<V, E, O> const& g, device const& on = {}, bool repeats = true) {
  return partition::greedy_fusion<V, E, O>(g, on, repeats).kernels;
}

/// Kernels of complex operators joined to chains by the same reward. As every chain saves the value in between, and
/// nothing is computed again, the largest such value comes first. A chain must have a tiling that saves time.
template <int V, int E, int O>
constexpr grouping<V> greedy_chains(graph<V, E, O> const& g, grouping<V> const& kernels, device const& on) {
  chain_values<V> const values = chain_values_of(g, kernels, on);
  array_of<long, slots<V>> between{};
  array_of<int, slots<V>> first{}, count{};  // of the chain of each kernel: its first kernel, whose count is up to date
  for (int a = 0; a < kernels.count; ++a) {
    between[a] = values.next[a] < 0 ? 0 : long(values.between[a]);
    first[a] = a;
    count[a] = 1;
  }
  by_weight<V> const sorted(between, kernels.count);
  for (int i = 0; i < kernels.count && between[sorted.order[i]] > 0; ++i) {
    int const a = first[sorted.order[i]], b = values.next[sorted.order[i]], all = count[a] + count[b];
    if (all > max_chain || values.saved[a][all - 2] <= 0) continue;
    count[a] = all;
    for (int n = count[b], c = b; n > 0; --n, c = values.next[c]) first[c] = a;
  }
  return grouping_by<V>(first, kernels.count);
}

/// The partition of `g` into these kernels. The subgraphs are the chains.
template <int V, int E, int O>
constexpr partitions<V> neoflow_partition(graph<V, E, O> const& g, grouping<V> const& kernels, device const& on) {
  dag<V, E> const operators = dag_of(g);
  grouping<V> const chains = compose(kernels, greedy_chains(g, kernels, on), operators.count);
  partitions<V> r = ordered(g, operators, chains, kernels);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = r.subgraphs.of[v];
  return r;
}

/// NeoFlow's policy. Its graphs consist of expressions, of which a norm has several. Operators are computed again where
/// that pays; `partition` alone, which cannot change the graph, computes nothing again.
struct neoflow_policy {
  static constexpr char const* name = "neoflow";
  static constexpr opening opens{.activations = false};

  template <int V, int E, int O>
  static constexpr partitions<V> partition(graph<V, E, O> const& g, device const& on) {
    return neoflow_partition(g, grouped_by_kernel(g, neoflow_kernels(g, on, false)), on);
  }
  template <int V, int E, int O>
  static constexpr kernel_paths<V> kernels(graph<V, E, O> const& g, device const& on) {
    return neoflow_kernels(g, on);
  }
  template <int V, int E, int O>
  static constexpr partitions<V> partition_kernels(graph<V, E, O> const& g, grouping<V> const& of, device const& on) {
    return neoflow_partition(g, of, on);
  }
};

}  // namespace ago::partition
