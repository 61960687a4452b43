// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks what a policy returns, which may be a user's.
#pragma once

#include <ago/ir/enumerators.hpp>
#include <ago/partition/ordered.hpp>

#include <cstdint>

namespace ago::partition {

/// What is wrong with a partition.
enum class partition_fault : std::uint8_t { none, incomplete, cyclic, not_nested, broken_chain, wrong_order };

constexpr char const* name_of(partition_fault f) {
  constexpr char const* names[] = {"none", "incomplete", "cyclic", "not nested", "broken chain", "wrong order"};
  static_assert(ir::has_enumerators<partition_fault, ir::lines_of(names)>());
  return names[int(f)];
}

/// Is every operator, and no input, in a cluster?
template <int V, int E, int O>
constexpr bool is_complete(graph<V, E, O> const& g, ordered_clusters<V> const& p) {
  for (int v = 0; v < g.node_count; ++v)
    if (v < g.input_count ? p.of[v] != -1 : p.of[v] < 0 || p.of[v] >= p.count) return false;
  return p.operators == g.node_count - g.input_count;
}

/// Does each group of `inner` lie within one of `outer`?
template <int V>
constexpr bool is_nested(int const* inner, int const* outer, int first, int end) {
  array_of<int, slots<V>> outside{};  // plus one
  for (int v = first; v < end; ++v) {
    int& group = outside[inner[v]];
    if (group != 0 && group != outer[v] + 1) return false;
    group = outer[v] + 1;
  }
  return true;
}

/// Does the order have every operator once, cluster by cluster, after its operands?
template <int V, int E, int O>
constexpr bool is_order_of(graph<V, E, O> const& g, ordered_clusters<V> const& p) {
  array_of<bool, slots<V>> placed{};
  for (int v = 0; v < g.input_count; ++v) placed[v] = true;
  for (int i = 0, last = 0; i < p.operators; ++i) {
    int const v = p.order[i];
    if (v < g.input_count || v >= g.node_count || placed[v] || p.of[v] < last) return false;
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      if (!placed[g.operand(v, k)]) return false;
    placed[v] = true;
    last = p.of[v];
  }
  return true;
}

/// The first fault of the partitions of `g`.
template <int V, int E, int O>
constexpr partition_fault partition_fault_of(graph<V, E, O> const& g, partitions<V> const& p) {
  using enum partition_fault;
  if (!is_complete(g, p.subgraphs) || !is_complete(g, p.minis)) return incomplete;
  if (!p.subgraphs.acyclic || !p.minis.acyclic) return cyclic;
  if (!is_nested<V>(p.minis.of, p.subgraphs.of, g.input_count, g.node_count)) return not_nested;
  for (int v = g.input_count; v < g.node_count; ++v)
    if (p.chain_of[v] < 0 || p.chain_of[v] >= V) return broken_chain;
  if (!is_nested<V>(p.chain_of, p.subgraphs.of, g.input_count, g.node_count)) return broken_chain;
  return is_order_of(g, p.subgraphs) && is_order_of(g, p.minis) ? none : wrong_order;
}

template <partition_fault What>
constexpr bool is_not(partition_fault other) {
  return What != other;
}

/// One sentence for a policy's fault.
template <partition_fault Fault>
struct partition_is_valid {
  static_assert(is_not<Fault>(partition_fault::incomplete),
                "ago: the policy leaves an operator in no subgraph or mini-subgraph, or puts an input in one");
  static_assert(is_not<Fault>(partition_fault::cyclic),
                "ago: the policy's subgraphs or mini-subgraphs need each other's results, so that none can run first");
  static_assert(is_not<Fault>(partition_fault::not_nested),
                "ago: a mini-subgraph of the policy is in several subgraphs");
  static_assert(is_not<Fault>(partition_fault::broken_chain),
                "ago: a chain of the policy has no number, or is in several subgraphs");
  static_assert(is_not<Fault>(partition_fault::wrong_order),
                "ago: the order of the policy is not that of its subgraphs and mini-subgraphs; `ordered` makes one");
};

}  // namespace ago::partition

namespace ago {
using partition::name_of;
}  // namespace ago
