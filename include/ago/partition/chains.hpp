// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains: atoms that intensive fusion computes in one pass (AGO III.B), chosen by the memory traffic that this saves.
#pragma once

#include <ago/graph/hash.hpp>
#include <ago/partition/atoms.hpp>
#include <ago/partition/fusion_cost.hpp>

namespace ago {

/// Maximum number of atoms in one pass.
inline constexpr int max_chain = 3;

/// Can this operator compute a tile of its output from a tile of its input that the operator before it has just
/// computed?
constexpr bool follows_in_chain(node const& n) {
  return is_matrix_product(n.kind) || n.kind == op::depthwise || pools_windows(n.kind);
}
/// Can this operator start a chain?
constexpr bool leads_chain(node const& n) {
  return (follows_in_chain(n) && !pools_windows(n.kind)) || (n.kind == op::conv2d && n.groups == 1);
}

namespace detail {

/// Atoms as links of chains.
template <int V>
struct chain_links {
  int main[slots<V>]{}, result[slots<V>]{};  ///< first and last operator, nodes of the graph
  int next[slots<V>]{};  ///< the atom whose main operator is the only reader of this one's result; -1: none
  bool has_previous[slots<V>]{};
};

template <int V, int E, int O>
constexpr chain_links<V> links_of(graph<V, E, O> const& g, grouping<V> const& atoms, grouping<V> const* within) {
  chain_links<V> r;
  value_reads<V> const reads = reads_of(g);
  for (int v = g.node_count - 1; v >= g.input_count; --v) r.main[atoms.of[v - g.input_count]] = v;
  for (int v = g.input_count; v < g.node_count; ++v) r.result[atoms.of[v - g.input_count]] = v;
  for (int a = 0; a < atoms.count; ++a) r.next[a] = -1;
  for (int b = 0; b < atoms.count; ++b) {
    if (!follows_in_chain(g.nodes[r.main[b]]) || g.operand(r.main[b]) < g.input_count) continue;
    int const a = atoms.of[g.operand(r.main[b]) - g.input_count];
    if (g.operand(r.main[b]) != r.result[a] || reads.of[r.result[a]] != 1 || !leads_chain(g.nodes[r.main[a]]) ||
        (within && within->of[r.result[a] - g.input_count] != within->of[r.main[b] - g.input_count]))
      continue;
    r.next[a] = b;
    r.has_previous[b] = true;
  }
  return r;
}

/// Distinguishes links by everything that their price depends on. A collision would only give a chain the price of
/// another.
constexpr std::uint64_t fingerprint(chain_link const& l) {
  window const& w = l.win;
  auto const pair = [](int a, int b) { return std::uint64_t(a) << 32 ^ std::uint64_t(b); };
  value_hash h;
  h.mix(std::uint64_t(l.kind));
  h.mix(std::uint64_t(l.weight_bytes));
  h.mix(l.in);
  h.mix(l.out);
  h.mix(pair(w.kernel_h, w.kernel_w));
  h.mix(pair(w.stride_h, w.stride_w));
  h.mix(pair(w.dilation_h, w.dilation_w));
  h.mix(pair(w.pad_top, w.pad_left));
  return h.value;
}

/// Savings of the chains seen last: networks repeat blocks, and compilers limit the number of evaluation steps.
struct priced_chains {
  std::uint64_t key[256]{};
  std::int64_t saved[256]{};
};

/// Joins the scores of an attention, their softmax and the product with the values, where nothing else reads the values
/// in between: a few rows of scores at a time then go through all three (matmul -> matmul, AGO III.B, tiled over rows).
template <int V, int E, int O>
constexpr void join_attention(graph<V, E, O> const& g, grouping<V> const& atoms, grouping<V> const* within,
                              int* rep) {
  value_reads<V> const reads = reads_of(g);
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (g.nodes[v].kind != op::attention_values || g.source(v).kind != op::softmax) continue;
    int const weights = g.operand(v);
    if (g.source(weights).kind != op::attention_scores) continue;
    int const scores = g.operand(weights);
    if (reads.of[weights] != 1 || reads.of[scores] != 1) continue;
    int const* const of = within ? within->of : nullptr;
    if (of && (of[scores - g.input_count] != of[v - g.input_count] ||
               of[weights - g.input_count] != of[v - g.input_count]))
      continue;
    int const first = atoms.of[scores - g.input_count];
    rep[atoms.of[weights - g.input_count]] = rep[atoms.of[v - g.input_count]] = first;
  }
}

}  // namespace detail

/// Groups atoms into chains of up to max_chain, by atom numbers: dynamic programming along every line of atoms finds
/// the cut that saves the most traffic. Also joins attentions. `intensive` false: every atom alone. `within`: groups of
/// operators that no chain may cross; null: none.
///
/// Contracting chains creates no cycle: every value inside a chain has one reader, the next link.
template <int V, int E, int O>
constexpr grouping<V> chains_of(graph<V, E, O> const& g, grouping<V> const& atoms, bool intensive, device const& on,
                                grouping<V> const* within = nullptr) {
  detail::chain_links<V> const links = detail::links_of(g, atoms, within);
  detail::priced_chains priced;
  int rep[slots<V>]{}, line[slots<V>]{};
  std::uint64_t print[slots<V>]{};  // of the links of a line
  for (int a = 0; a < atoms.count; ++a) rep[a] = a;
  for (int head = 0; head < atoms.count && intensive; ++head) {
    if (links.has_previous[head]) continue;
    int length = 0;
    for (int a = head; a >= 0; a = links.next[a]) {
      if (links.next[head] >= 0) print[length] = detail::fingerprint(link_of(g, links.main[a], links.result[a]));
      line[length++] = a;
    }
    std::int64_t best[slots<V> + 1]{};  // saved by the first k links of the line
    int taken[slots<V> + 1]{};  // links in the last chain of that solution
    for (int k = 1; k <= length; ++k) {
      best[k] = best[k - 1];
      taken[k] = 1;
      for (int n = 2; n <= max_chain && n <= k; ++n) {
        value_hash links_mixed;
        for (int i = k - n; i < k; ++i) links_mixed.mix(print[i]);
        std::uint64_t const key = links_mixed.value, slot = key & 255;
        if (priced.key[slot] != key) {
          chain_link chain[max_chain]{};
          for (int i = 0; i < n; ++i) chain[i] = link_of(g, links.main[line[k - n + i]], links.result[line[k - n + i]]);
          priced.key[slot] = key;
          priced.saved[slot] = best_tiling(chain, n, on).saved;
        }
        std::int64_t const saved = priced.saved[slot];
        if (best[k - n] + saved <= best[k]) continue;
        best[k] = best[k - n] + saved;
        taken[k] = n;
      }
    }
    for (int k = length; k > 0; k -= taken[k])
      for (int n = 1; n <= taken[k]; ++n) rep[line[k - n]] = line[k - taken[k]];
  }
  if (intensive) detail::join_attention(g, atoms, within, rep);
  return grouping_by<V>(rep, atoms.count);
}

}  // namespace ago
