// Chains: atoms that intensive fusion computes in one pass (AGO III.B), chosen by the memory traffic that they save.
#pragma once

#include <ago/partition/atoms.hpp>
#include <ago/partition/device.hpp>

namespace ago {

/// Complex operators in one pass.
inline constexpr int max_chain = 3;

/// Can this operator compute its output row by row, from rows of its input that another one has just computed?
constexpr bool follows_by_rows(node const& n) { return n.kind == op::pointwise || n.kind == op::depthwise; }
/// Can this operator start a chain?
constexpr bool leads_by_rows(node const& n) { return follows_by_rows(n) || (n.kind == op::conv2d && n.groups == 1); }

namespace detail {

/// Atoms as links of chains.
template <int V>
struct chain_links {
  int main[slots<V>]{}, result[slots<V>]{};  ///< first and last operator, nodes of the graph
  int next[slots<V>]{};  ///< the atom that alone reads this one's result, by its main operator; or -1
  bool has_previous[slots<V>]{};
};

template <int V, int E, int O>
constexpr chain_links<V> links_of(graph<V, E, O> const& g, grouping<V> const& atoms) {
  chain_links<V> r;
  value_reads<V> const reads = reads_of(g);
  for (int v = g.node_count - 1; v >= g.input_count; --v) r.main[atoms.of[v - g.input_count]] = v;
  for (int v = g.input_count; v < g.node_count; ++v) r.result[atoms.of[v - g.input_count]] = v;
  for (int a = 0; a < atoms.count; ++a) r.next[a] = -1;
  for (int b = 0; b < atoms.count; ++b) {
    if (!follows_by_rows(g.nodes[r.main[b]]) || g.operand(r.main[b]) < g.input_count) continue;
    int const a = atoms.of[g.operand(r.main[b]) - g.input_count];
    if (g.operand(r.main[b]) != r.result[a] || reads.of[r.result[a]] != 1 || !leads_by_rows(g.nodes[r.main[a]]))
      continue;
    r.next[a] = b;
    r.has_previous[b] = true;
  }
  return r;
}

template <int V, int E, int O>
constexpr long weight_bytes(graph<V, E, O> const& g, int v) {
  window const& w = g.nodes[v].win;
  return 4L * g.nodes[v].out.c * w.kernel_h * w.kernel_w *
         (g.nodes[v].kind == op::depthwise ? 1 : g.source(v).out.c / g.nodes[v].groups);
}

/// Bytes that do not travel beyond L2 when a's result is passed on in rows; 0: not worth it. The values must exceed
/// half of L2, else they stay there anyway; rows must be long enough for whole register tiles.
template <int V, int E, int O>
constexpr long bytes_saved(graph<V, E, O> const& g, chain_links<V> const& links, int a, device const& on) {
  shape const &between = g.nodes[links.result[a]].out, &after = g.nodes[links.result[links.next[a]]].out;
  bool const large = 4 * (between.count() + after.count()) > on.l2_bytes / 2;
  return large && after.w >= 7 ? 4 * between.count() : 0;
}

}  // namespace detail

/// Groups atoms into chains of up to max_chain, over atom numbers: by dynamic programming along every line of atoms,
/// the cut that saves most traffic between operators. The matrices of a chain are read once for every few rows, and
/// must therefore leave half of L2 free. `intensive` false: every atom alone.
///
/// Contraction makes no cycle: every value inside a chain has one reader, the next link.
template <int V, int E, int O>
constexpr grouping<V> chains_of(graph<V, E, O> const& g, grouping<V> const& atoms, bool intensive, device const& on) {
  detail::chain_links<V> const links = detail::links_of(g, atoms);
  int rep[slots<V>]{}, line[slots<V>]{};
  for (int a = 0; a < atoms.count; ++a) rep[a] = a;
  for (int head = 0; head < atoms.count && intensive; ++head) {
    if (links.has_previous[head]) continue;
    int length = 0;
    for (int a = head; a >= 0; a = links.next[a]) line[length++] = a;
    long best[slots<V> + 1]{};  // bytes saved by the first k links of the line
    int taken[slots<V> + 1]{};  // links in the last chain of that solution
    for (int k = 1; k <= length; ++k) {
      best[k] = best[k - 1];
      taken[k] = 1;
      long saved = 0, weights = detail::weight_bytes(g, links.main[line[k - 1]]);
      for (int n = 2; n <= max_chain && n <= k; ++n) {
        long const edge = detail::bytes_saved(g, links, line[k - n], on);
        weights += detail::weight_bytes(g, links.main[line[k - n]]);
        if (edge == 0 || weights > on.l2_bytes / 2) break;
        saved += edge;
        if (best[k - n] + saved > best[k]) {
          best[k] = best[k - n] + saved;
          taken[k] = n;
        }
      }
    }
    for (int k = length; k > 0; k -= taken[k])
      for (int n = 1; n <= taken[k]; ++n) rep[line[k - n]] = line[k - taken[k]];
  }
  return grouping_by<V>(rep, atoms.count);
}

}  // namespace ago
