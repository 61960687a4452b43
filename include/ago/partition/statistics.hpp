// Figures of a partition: how even it is, which fusions it permits, and the memory traffic that it saves.
#pragma once

#include <ago/partition/chains.hpp>
#include <ago/partition/partition.hpp>

namespace ago {

/// Weights are in thousandths.
struct partition_statistics {
  int groups{}, trivial{};    ///< trivial: weight below 20.0
  long total{}, heaviest{};
  double mean{}, median{}, jain{};  ///< Jain's index of the weights: 1 if all are alike, 1 / groups if one has all
  int most_complex{};         ///< complex operators of a group, at most
  int pairs{}, possible_pairs{};      ///< a complex operator, elementwise ones, one that can follow it in one pass
  int triples{}, possible_triples{};  ///< likewise with depthwise, pointwise
  int broken_epilogues{}, epilogues{};  ///< complex operators cut off from the rest of their atoms; with such
  long bytes_removed{};       ///< of stores and loads of values between operators
};

/// A group lighter than this is trivial (AGO section VI.B), in thousandths.
inline constexpr long trivial_weight = 20'000;
/// What an intensive pair may hold at a time to count as a saving, in bytes.
inline constexpr long pair_cache = 512 << 10;

namespace detail {

/// Sum, spread and counts of the groups' weights.
template <int V, int E>
constexpr void weigh(partition_statistics& s, dag<V, E> const& groups) {
  if ((s.groups = groups.count) == 0) return;
  by_weight<V> const sorted(groups.weight, groups.count);
  double squares = 0;
  for (int k = 0; k < groups.count; ++k) {
    long const w = groups.weight[k];
    s.total += w;
    s.trivial += w < trivial_weight;
    s.most_complex = groups.complex[k] > s.most_complex ? groups.complex[k] : s.most_complex;
    squares += double(w) * double(w);
  }
  int const n = groups.count;
  s.heaviest = groups.weight[sorted.order[0]];
  s.mean = double(s.total) / n;
  s.median = (double(groups.weight[sorted.order[n / 2]]) + double(groups.weight[sorted.order[(n - 1) / 2]])) / 2;
  s.jain = double(s.total) * double(s.total) / (n * squares);
}

/// Complex operators whose results reach one operator through elementwise operators alone.
template <int V>
struct pair_search {
  int found[slots<V>]{}, count{};
  int stack[slots<V>]{}, mark[slots<V>]{}, stamp{};
  int reach[slots<V>]{};

  /// Goes back from operator b, along its first operand. `mark` is `stamp` for the elementwise operators passed.
  template <int E, int O>
  constexpr void from(graph<V, E, O> const& g, int b) {
    ++stamp;
    count = 0;
    int waiting = 0;
    auto const visit = [&](int u) {
      if (mark[u] == stamp) return;
      mark[u] = stamp;
      if (is_complex(g.nodes[u].kind)) found[count++] = u;
      if (is_elementwise(g.nodes[u].kind)) stack[waiting++] = u;
    };
    visit(g.operand(b));
    while (waiting > 0) {
      int const x = stack[--waiting];
      for (int k = 0; k < g.nodes[x].input_count; ++k) visit(g.operand(x, k));
    }
  }

  /// Does every path from a to b lead through elementwise operators alone? `complete`: are they all in one group?
  template <int E, int O>
  constexpr bool is_strict(graph<V, E, O> const& g, int a, int b, int const* of, bool& complete) {
    complete = of[a] == of[b];
    for (int v = a + 1; v <= b; ++v) {
      reach[v] = 0;  // 1: by elementwise operators, 2: by others too
      for (int k = 0; k < g.nodes[v].input_count; ++k) {
        int const u = g.operand(v, k), r = u == a ? 1 : u > a ? reach[u] : 0;
        reach[v] = r > reach[v] ? r : reach[v];
      }
      if (reach[v] == 0 || v == b) continue;
      if (!is_elementwise(g.nodes[v].kind)) reach[v] = 2;
      if (mark[v] == stamp && of[v] != of[a]) complete = false;
    }
    return reach[b] == 1;
  }
};

/// Can the second operator of a pair follow the first in one pass, by what must be held meanwhile: rows or a chunk of
/// 16 channels of the value between, and the weights?
template <int V, int E, int O>
constexpr bool fits_cache(graph<V, E, O> const& g, int a, int b) {
  if (!has_weights(g.nodes[a].kind) || !has_weights(g.nodes[b].kind))
    return bytes(g.source(b).out) <= pair_cache;
  chain_link const chain[]{link_of(g, a, g.operand(b)), link_of(g, b, b)};
  long const weights = chain[0].weight_bytes + chain[1].weight_bytes;
  if (tile_bytes(chain, 2, 0, {tiling::rows, 0}) + weights <= pair_cache) return true;
  int const c = chain[0].out.c, tile = c < 16 ? c : 16;
  return tile_bytes(chain, 2, 0, {tiling::channels, tile}) + weights * tile / c <= pair_cache;
}

/// Counts pairs and triples; `fused`: complex operators at the end of a pair that one pass can compute.
template <int V, int E, int O>
constexpr void count_pairs(partition_statistics& s, graph<V, E, O> const& g, int const* of, bool* fused) {
  pair_search<V> search;
  int ends[slots<V>]{}, ends_captured[slots<V>]{};  // pairs that end in this operator
  for (int b = g.input_count; b < g.node_count; ++b) {
    op const kind = g.nodes[b].kind;
    if (!is_complex(kind) || kind == op::conv2d) continue;
    search.from(g, b);
    for (int i = 0; i < search.count; ++i) {
      int const a = search.found[i];
      bool captured = false;
      if (!search.is_strict(g, a, b, of, captured)) continue;
      ++ends[b], ++s.possible_pairs;
      ends_captured[b] += captured, s.pairs += captured;
      fused[b] = fused[b] || (captured && fits_cache(g, a, b));
      if (kind != op::pointwise || g.nodes[a].kind != op::depthwise) continue;
      s.possible_triples += ends[a];
      s.triples += captured ? ends_captured[a] : 0;
    }
  }
}

/// Bytes of values that need not be read, because their reader is in the same group, nor stored, because all are. What
/// complex operators and pooling read does not count, but for the ends of pairs: they read every element many times.
template <int V, int E, int O>
constexpr long removed_bytes(graph<V, E, O> const& g, int const* of, bool const* fused) {
  bool stored[slots<V>]{};
  for (int o = 0; o < g.output_count; ++o) stored[g.outputs[o]] = true;
  long removed = 0;
  for (int v = g.node_count - 1; v >= g.input_count; --v) {
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const u = g.operand(v, k);
      if (u < g.input_count) continue;
      bool const many_times = is_complex(g.nodes[v].kind) || is_pool(g.nodes[v].kind);
      bool const saved = of[u] == of[v] && (!many_times || (k == 0 && fused[v]));
      if (saved) removed += bytes(g.nodes[u].out);
      else stored[u] = true;
    }
  }
  value_reads<V> const reads = reads_of(g);
  for (int u = g.input_count; u < g.node_count; ++u)
    if (!stored[u] && reads.of[u] > 0) removed += bytes(g.nodes[u].out);
  return removed;
}

}  // namespace detail

/// Figures of `p`, a partition of `g` into subgraphs or into mini-subgraphs. A pair of complex operators counts if all
/// paths between them lead through elementwise operators alone; it is captured if all of these are in one group.
template <int V, int E, int O>
constexpr partition_statistics statistics_of(graph<V, E, O> const& g, partition<V> const& p) {
  partition_statistics s;
  dag<V, E> const operators = dag_of(g);
  grouping<V> groups;
  groups.count = p.count;
  for (int v = 0; v < operators.count; ++v) groups.of[v] = p.of[g.input_count + v];
  detail::weigh(s, quotient(operators, groups));
  bool fused[slots<V>]{};
  detail::count_pairs(s, g, p.of, fused);
  s.bytes_removed = detail::removed_bytes(g, p.of, fused);

  grouping<V> const atoms = atoms_of(g);
  for (int v = 1; v < operators.count; ++v) {  // an atom's first follower reads the complex operator itself
    int const u = g.operand(g.input_count + v) - g.input_count;
    if (u < 0 || atoms.of[u] != atoms.of[v] || !operators.complex[u]) continue;
    ++s.epilogues;
    s.broken_epilogues += groups.of[u] != groups.of[v];
  }
  return s;
}

}  // namespace ago
