// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory traffic that a partition saves.
#pragma once

#include <ago/partition/atoms.hpp>
#include <ago/partition/fusion_cost.hpp>

namespace ago::partition {

/// What an intensive pair may hold at a time to count as a saving, in bytes: half of L2.
constexpr long pair_cache(device const& on = {}) { return on.l2_bytes / 2; }

/// Does this operator read each element of its operand for many of its results?
constexpr bool reads_many_times(op kind) { return is_complex(kind) || is_pool(kind); }
/// Can this operator follow another complex one in one pass?
constexpr bool ends_pair(op kind) { return is_complex(kind) && kind != op::conv2d && kind != op::contraction; }

/// Searches backwards from an operator for the complex operators whose results reach it through elementwise operators
/// only.
template <int V>
struct pair_search {
  enum class way : std::uint8_t { none, elementwise, other };
  array_of<way, slots<V>> to_end{};  ///< of each node, the worst of its paths to the end
  array_of<bool, slots<V>> cut{};    ///< one of these paths leaves the group of the end
  array_of<int, slots<V>> waiting{};
  int waiting_count{};  ///< nodes to continue from, in ascending order
  array_of<int, slots<V>> passed{};
  int passed_count{}, open{};  ///< open: waiting nodes with only elementwise paths

  constexpr void reach(int u, way w, bool leaves) {
    if (to_end[u] == way::none) {
      int i = waiting_count++;
      for (; i > 0 && waiting[i - 1] > u; --i) waiting[i] = waiting[i - 1];
      waiting[i] = u;
      open += w == way::elementwise;
    } else {
      open -= to_end[u] == way::elementwise && w == way::other;
    }
    if (w > to_end[u]) to_end[u] = w;
    cut[u] = cut[u] || leaves;
  }

  /// Calls visit(a, captured) for each complex operator a that b's search finds, the latest first. Nodes that also
  /// reach b in another way are followed only while some remaining node may reach it through elementwise operators
  /// only.
  template <int E, int O>
  constexpr void from(graph<V, E, O> const& g, int b, int const* of, auto const& visit) {
    auto const read = [&](int v, way first, way others, bool leaves) {
      for (int k = 0; k < g.nodes[v].input_count; ++k)
        if (int const u = g.operand(v, k); u >= g.input_count)
          reach(u, k == 0 ? first : others, leaves || of[u] != of[b]);
    };
    read(b, way::elementwise, way::other, false);
    while (open > 0) {
      int const v = passed[passed_count++] = waiting[--waiting_count];
      op const kind = g.nodes[v].kind;
      bool const clean = to_end[v] == way::elementwise;
      open -= clean;
      if (clean && is_complex(kind)) visit(v, !cut[v]);
      way const onwards = clean && is_elementwise(kind) ? way::elementwise : way::other;
      read(v, onwards, onwards, cut[v]);
    }
    while (waiting_count > 0) passed[passed_count++] = waiting[--waiting_count];
    while (passed_count > 0) {
      int const v = passed[--passed_count];
      to_end[v] = way::none;
      cut[v] = false;
    }
  }
};

/// Can the second operator of a pair follow the first in one pass? `cache` must hold the weights and either rows or a
/// chunk of 16 channels of the value in between.
constexpr bool fits_cache(graph_view g, int a, int b, long cache) {
  std::int64_t const whole = bytes(g.source(b).out);
  if (!has_weights(g.nodes[a].kind) || !has_weights(g.nodes[b].kind)) return whole <= cache;
  std::int64_t const weights = weight_bytes(g, a) + weight_bytes(g, b);
  if (whole + weights <= cache) return true;
  chain_link const chain[]{link_of(g, a, g.operand(b)), link_of(g, b, b)};
  if (tile_bytes(chain, 2, 0, {tiling::rows, 0}) + weights <= cache) return true;
  int const c = chain[0].out.c, tile = c < 16 ? c : 16;
  return tile_bytes(chain, 2, 0, {tiling::channels, tile}) + weights * tile / c <= cache;
}

/// Intensive pairs: a complex operator, elementwise ones, and one that can follow it in one pass, where all paths
/// between the two lead through elementwise operators only. Triples: likewise, with a depthwise and a pointwise
/// operator after the first. Captured: all of it is in one group.
template <int V>
struct intensive_pairs {
  int pairs{}, possible_pairs{}, triples{}, possible_triples{};
  array_of<bool, slots<V>> fused{};  ///< of each node: ends a captured pair whose tiles fit the cache
};

/// `of`: the group of each node. `cache`: bytes that a pair may hold at a time.
template <int V, int E, int O>
constexpr intensive_pairs<V> pairs_of(graph<V, E, O> const& g, int const* of, long cache = pair_cache()) {
  intensive_pairs<V> s;
  pair_search<V> search;
  array_of<int, slots<V>> ends{}, ends_captured{};  // pairs that end in this operator
  for (int b = g.input_count; b < g.node_count; ++b) {
    op const kind = g.nodes[b].kind;
    if (!ends_pair(kind)) continue;
    search.from(g, b, of, [&](int a, bool captured) {
      ++ends[b], ++s.possible_pairs;
      ends_captured[b] += captured, s.pairs += captured;
      s.fused[b] = s.fused[b] || (captured && fits_cache(g, a, b, cache));
      if (kind != op::pointwise || g.nodes[a].kind != op::depthwise) return;
      s.possible_triples += ends[a];
      s.triples += captured ? ends_captured[a] : 0;
    });
  }
  return s;
}

/// Bytes of values that need not be read because their reader is in the same group, and need not be stored because all
/// readers are. Values read by complex operators and pooling do not count, except at the ends of pairs, because these
/// operators read every element many times.
template <int V, int E, int O>
constexpr long bytes_removed(graph<V, E, O> const& g, int const* of, intensive_pairs<V> const& pairs) {
  array_of<bool, slots<V>> stored{};
  for (int o = 0; o < g.output_count; ++o) stored[g.outputs[o]] = true;
  long removed = 0;
  for (int v = g.node_count - 1; v >= g.input_count; --v) {
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const u = g.operand(v, k);
      if (u < g.input_count) continue;
      bool const many_times = reads_many_times(g.nodes[v].kind);
      bool const saved = of[u] == of[v] && (!many_times || (k == 0 && pairs.fused[v]));
      if (saved) removed += 4 * g.nodes[u].out.count();
      else stored[u] = true;
    }
  }
  value_uses<V> const uses(g);
  for (int u = g.input_count; u < g.node_count; ++u)
    if (!stored[u] && (uses.readers[u] > 0 || uses.is_output[u])) removed += 4 * g.nodes[u].out.count();
  return removed;
}

}  // namespace ago::partition
