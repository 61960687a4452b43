// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains: atoms that intensive fusion computes in one pass (AGO III.B), chosen by the time that this saves.
#pragma once

#include <ago/ir/hash.hpp>
#include <ago/partition/atoms.hpp>
#include <ago/partition/fusion_cost.hpp>

namespace ago::partition {

/// Maximum number of atoms in one pass.
inline constexpr int max_chain = 3;

/// Can this operator compute a tile of its output from a tile of its input that the operator before it has just
/// computed?
constexpr bool follows_in_chain(node const& n) {
  return is_matrix_product(n.kind) || n.kind == op::depthwise || pools_windows(n.kind);
}
/// Can operator v follow the operator in a chain that computes its operand_in_chain(), which is `before`?
constexpr bool can_follow(graph_view g, int v, int before) {
  op const kind = g.nodes[v].kind, from = g.nodes[before].kind;
  if (kind == op::nest) return !is_elementwise(from) && !pools_windows(from);
  if (kind == op::contraction) return is_elementwise(from);
  return follows_in_chain(g.nodes[v]) && from != op::contraction;
}
/// Can operator v start a chain? Elementwise operators with the others after them can, if their first operand has the
/// shape of the result.
constexpr bool leads_chain(graph_view g, int v) {
  node const& n = g.nodes[v];
  if (is_elementwise(n.kind)) return g.source(v).out == n.out;
  if (n.kind == op::contraction) return true;
  return (follows_in_chain(n) && !pools_windows(n.kind)) || (n.kind == op::conv2d && n.groups == 1);
}

/// Distinguishes links by everything that their price depends on, apart from `adds`. A collision would only give a
/// chain the price of another.
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
  h.mix(std::uint64_t(l.begins));
  return h.value;
}

/// The links of the atoms seen last: an atom is part of several chains.
struct recent_links {
  struct atom_link {
    int atom = -1;
    chain_link link{};
    std::uint64_t key{};
    link_alone alone{};
    bool is_priced = false;

    /// What it costs alone.
    constexpr link_alone const& price(usual_products& known, device const& on) {
      if (!is_priced) alone = link_alone(link, known, on);
      is_priced = true;
      return alone;
    }
  };
  static constexpr int slots = 8;
  atom_link slot[slots]{};

  /// The link of an atom with this main operator and this result.
  constexpr atom_link& of(graph_view g, int atom, int main, int result) {
    atom_link& r = slot[atom % slots];
    if (r.atom == atom) return r;
    r.atom = atom;
    r.link = link_of(g, main, result);
    r.key = fingerprint(r.link);
    r.is_priced = false;
    return r;
  }
};

/// Savings of the chains seen last, and what they follow from: networks repeat blocks, and compilers limit the number
/// of evaluation steps.
struct priced_chains {
  std::uint64_t key[256]{};
  std::int64_t saved[256]{};
  recent_links links;
  usual_products products;
};

/// The scores and the softmax of an attention, nodes of the graph; -1: v is not the product with the values of one
/// whose inner values nothing else reads.
struct inner_attention {
  int scores = -1, weights = -1;
};
template <int V, int E, int O>
constexpr inner_attention inside_attention(graph<V, E, O> const& g, int v, value_uses<V> const& uses) {
  if (g.nodes[v].kind != op::attention_values || g.source(v).kind != op::softmax) return {};
  int const weights = g.operand(v);
  if (g.source(weights).kind != op::attention_scores) return {};
  int const scores = g.operand(weights);
  return uses.is_private(weights) && uses.is_private(scores) ? inner_attention{scores, weights} : inner_attention{};
}

/// Atoms in lines, along which chains are chosen, and what each chain saves: twice the price of writing and reading the
/// scores of an attention, and otherwise what its best tiling saves (fusion_cost.hpp).
template <int V>
struct chain_values {
  array_of<int, slots<V>>
      next{};  ///< the only atom that may follow this one in a chain, with a higher number; -1: none
  array_of<bool, slots<V>> has_previous{};
  array_of<std::int64_t, slots<V>> between{};  ///< bytes of the value that `next` reads
  array_of<std::int64_t[max_chain - 1], slots<V>>
      saved{};  ///< by the chain of two, of three atoms that starts with this one

  constexpr void link(int a, int b, shape const& value) {
    next[a] = b;
    between[a] = bytes(value);
    has_previous[b] = true;
  }
};

/// First and last operator of each atom, and a value that an operator behind the first one reads from elsewhere; -1:
/// none. All are nodes of the graph.
template <int V>
struct atom_nodes {
  array_of<int, slots<V>> main{}, result{}, other{};
};

/// What the chains save that start with atom a.
template <int V, int E, int O>
constexpr void price_chains_from(int a, chain_values<V>& r, graph<V, E, O> const& g, atom_nodes<V> const& atoms,
                                 priced_chains& seen, device const& on) {
  int members[max_chain]{}, adds[max_chain]{};
  graph_view const view = g;
  auto const link = [&](int b) -> auto& { return seen.links.of(view, b, atoms.main[b], atoms.result[b]); };
  value_hash mixed;
  for (int n = 0, b = a; n < max_chain && b >= 0; ++n, b = r.next[b]) {
    members[n] = b;
    adds[n] = -1;
    int const other = atoms.other[b];
    for (int k = 0; k < n && other >= 0; ++k)
      if (g.operand(atoms.main[members[k]]) == other) adds[n] = k;
    mixed.mix(link(b).key);
    mixed.mix(std::uint64_t(adds[n]));
    if (n == 0) continue;
    std::uint64_t const key = mixed.value, slot = key >> 32 & 255;
    if (seen.key[slot] != key) {
      chain_link chain[max_chain]{};
      link_alone alone[max_chain]{};
      for (int k = 0; k <= n; ++k) {
        alone[k] = link(members[k]).price(seen.products, on);
        chain[k] = link(members[k]).link;
        chain[k].adds = adds[k];
      }
      seen.key[slot] = key;
      seen.saved[slot] = best_tiling(chain, alone, n + 1, seen.products, on, 0).saved;
    }
    r.saved[a][n - 1] = seen.saved[slot];
  }
}

/// The length of the longest path to each node.
template <int V>
struct node_levels {
  array_of<int, slots<V>> of{};

  template <int E, int O>
  constexpr explicit node_levels(graph<V, E, O> const& g) {
    for (int v = g.input_count; v < g.node_count; ++v)
      for (int e = g.nodes[v].input_first, end = e + g.nodes[v].input_count; e < end; ++e)
        if (of[v] <= of[g.edges[e]]) of[v] = of[g.edges[e]] + 1;
  }
};
/// Can nest v end a chain that computes u, which others read, too? Only if its other operands have lower levels than u:
/// so have then all values that such a chain reads, so that contracting it creates no cycle, together with others.
template <int V, int E, int O>
constexpr bool can_share(graph<V, E, O> const& g, int u, int v, value_uses<V> const& uses,
                         node_levels<V> const& levels) {
  bool r = g.nodes[v].kind == op::nest && !uses.is_output[u];
  for (int k = 0; k < g.nodes[v].input_count; ++k)
    if (int const other = g.operand(v, k); other != u) r = r && levels.of[other] < levels.of[u];
  return r;
}

/// `within`: groups of operators that no chain may cross; empty: none.
template <int V, int E, int O>
constexpr chain_values<V> chain_values_of(graph<V, E, O> const& g, grouping<V> const& atoms, device const& on,
                                          grouping<V> const& within = grouping<V>{}) {
  chain_values<V> r;
  atom_nodes<V> nodes;
  auto &main = nodes.main, &result = nodes.result, &other = nodes.other;
  value_uses<V> const uses(g);
  node_levels<V> const levels(g);
  auto const atom = [&](int v) { return atoms.of[v - g.input_count]; };
  auto const separate = [&](int u, int v) {
    return within.count > 0 && within.of[u - g.input_count] != within.of[v - g.input_count];
  };
  for (int v = g.node_count - 1; v >= g.input_count; --v) main[atom(v)] = v;
  for (int v = g.input_count; v < g.node_count; ++v) result[atom(v)] = v;
  for (int a = 0; a < atoms.count; ++a) r.next[a] = other[a] = -1;
  for (int v = g.input_count; v < g.node_count; ++v)
    for (int k = 0; k < g.nodes[v].input_count && v != main[atom(v)]; ++k)
      if (int const u = g.operand(v, k); u < g.input_count || atom(u) != atom(v)) other[atom(v)] = u;
  for (int b = 0; b < atoms.count; ++b) {
    int const k = operand_in_chain(g, main[b]), u = k < 0 ? -1 : g.operand(main[b], k);
    if (u < g.input_count) continue;
    int const a = atom(u);
    bool const only = uses.is_private(u) || (r.next[a] < 0 && can_share(g, u, main[b], uses, levels));
    if (only && u == result[a] && can_follow(g, main[b], main[a]) && leads_chain(g, main[a]) && !separate(u, main[b]))
      r.link(a, b, g.nodes[u].out);
  }
  priced_chains seen;
  for (int a = 0; a < atoms.count; ++a)
    if (r.next[a] >= 0) price_chains_from(a, r, g, nodes, seen, on);
  for (int v = g.input_count; v < g.node_count; ++v) {
    auto const [scores, weights] = inside_attention(g, v, uses);
    if (scores < 0 || separate(scores, v) || separate(weights, v)) continue;
    r.link(atom(scores), atom(weights), g.nodes[scores].out);
    r.link(atom(weights), atom(v), g.nodes[weights].out);
    r.saved[atom(scores)][1] = 4 * near_price(on) * bytes(g.nodes[scores].out);
  }
  return r;
}

/// The best cut of each line of atoms into chains, from every atom on.
template <int V>
struct chain_choice {
  array_of<std::int64_t, slots<V>> saved{};  ///< by the chains from this atom on
  array_of<int, slots<V>> atoms{};           ///< of the first of them

  /// Chooses for `a`, after all atoms behind it. Only atoms for which `available(atom)` is true belong to the line.
  constexpr void choose(chain_values<V> const& of, int a, auto const& available) {
    int b = of.next[a];
    bool more = b >= 0 && available(b);
    saved[a] = more ? saved[b] : 0;
    atoms[a] = 1;
    for (int n = 2; n <= max_chain && more; ++n) {
      b = of.next[b];
      more = b >= 0 && available(b);
      std::int64_t const all = of.saved[a][n - 2] + (more ? saved[b] : 0);
      if (all <= saved[a]) continue;
      saved[a] = all;
      atoms[a] = n;
    }
  }
  /// Makes `a`, the first of a chain, the representative of its chain.
  constexpr void represent(chain_values<V> const& of, int a, int* rep) const {
    for (int n = 0, b = a; n < atoms[a]; ++n, b = of.next[b]) rep[b] = a;
  }
};

/// Groups atoms into chains of up to max_chain, by atom numbers: dynamic programming along every line of atoms finds
/// the cut that saves the most. `within`: groups of operators that no chain may cross; empty: none.
///
/// Contracting chains creates no cycle: every value inside a chain has one reader, the next link; see also can_share().
template <int V, int E, int O>
constexpr grouping<V> chains_of(graph<V, E, O> const& g, grouping<V> const& atoms, device const& on,
                                grouping<V> const& within = grouping<V>{}) {
  chain_values<V> const values = chain_values_of(g, atoms, on, within);
  chain_choice<V> best;
  array_of<int, slots<V>> rep{};
  for (int a = atoms.count - 1; a >= 0; --a) best.choose(values, a, [](int) { return true; });
  for (int head = 0; head < atoms.count; ++head) {
    if (values.has_previous[head]) continue;
    for (int a = head, b = head; a >= 0; a = b) {
      best.represent(values, a, rep);
      for (int n = best.atoms[a]; n > 0; --n) b = values.next[b];
    }
  }
  return grouping_by<V>(rep, atoms.count);
}

}  // namespace ago::partition
