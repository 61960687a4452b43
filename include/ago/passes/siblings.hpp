// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Horizontal fusion: merges convolutions or matrix products that read the same value into one with all output channels.
#pragma once

#include <ago/passes/passes.hpp>
#include <ago/passes/sibling_savings.hpp>

namespace ago::passes {

/// An operator with weights, and the operators after it that its epilogue computes from the same pixel and channel.
struct branch {
  int head{}, tail{};  ///< its first and last operator; each is read only by the next one
  int length{};
};

/// Is it elementwise with one operand, and parameters per channel or none?
constexpr bool continues_branch(op kind) { return is_unary(kind) && kind != op::positions && kind != op::batch_norm; }

/// The readers and branches of a graph.
template <int V>
struct branches {
  value_uses<V> uses;

  template <int E, int O>
  constexpr explicit branches(graph<V, E, O> const& g) : uses(g) {}
  template <int E, int O>
  constexpr branch from(graph<V, E, O> const& g, int head) const {
    branch b{head, head, 1};
    for (int r = uses.only_reader(b.tail); r >= 0 && continues_branch(g.nodes[r].kind); r = uses.only_reader(r)) {
      b.tail = r;
      ++b.length;
    }
    return b;
  }
  /// The concatenation of channels that is the only reader of b's result; -1: none.
  template <int E, int O>
  constexpr int joined_by(graph<V, E, O> const& g, branch const& b) const {
    int const r = uses.only_reader(b.tail);
    return r >= 0 && g.nodes[r].kind == op::concat && g.nodes[r].axis == 3 ? r : -1;
  }
};

/// Can reader r of a branch read a slice of channels at no cost? It cannot if it would be computed in the branch's
/// epilogue or in one pass with the branch, or if it needs the value in its own memory. `only`: r is the only reader.
constexpr bool takes_slice(node const& r, shape const& value, bool only) {
  bool const follows = is_matrix_product(r.kind) || r.kind == op::depthwise || pools_windows(r.kind);
  if (only && (follows || is_elementwise(r.kind))) return false;
  bool const gate = is_binary(r.kind) && r.out != value;
  return !gate && r.kind != op::concat && r.kind != op::reshape && r.kind != op::from_nchw && r.kind != op::to_nchw;
}

/// takes_slice for all readers. If the branch is an output, its slice is copied there.
template <int V, int E, int O>
constexpr bool can_be_slice(graph<V, E, O> const& g, branches<V> const& all, branch const& b) {
  bool const only = all.uses.is_private(b.tail);
  for (int r = b.tail + 1, left = all.uses.readers[b.tail]; left > 0 && r < g.node_count; ++r)
    for (int k = 0; k < g.nodes[r].input_count; ++k) {
      if (g.operand(r, k) != b.tail) continue;
      if (!takes_slice(g.nodes[r], g.nodes[b.tail].out, only)) return false;
      --left;
    }
  return true;
}

/// Is it a prelu with one slope for all channels?
constexpr bool shares_slope(node const& n) { return n.kind == op::prelu && n.entries != n.out.c; }

/// Do the branches have the same operators, except for parameters and the number of channels?
template <int V, int E, int O>
constexpr bool are_siblings(graph<V, E, O> const& g, branches<V> const& all, branch const& a, branch const& b) {
  if (a.length != b.length) return false;
  for (int v = a.head, u = b.head, i = 0; i < a.length; v = all.uses.reader[v], u = all.uses.reader[u], ++i) {
    node const &x = g.nodes[v], &y = g.nodes[u];
    if (x.kind != y.kind || x.win != y.win || x.alpha != y.alpha || x.beta != y.beta || x.function != y.function)
      return false;
    if (x.scatter.is_used() || y.scatter.is_used() || shares_slope(x) || shares_slope(y)) return false;
  }
  return true;
}

/// The groups of branches to be merged. Members are in the order of their channels.
template <int V>
struct sibling_groups {
  array_of<int, V> leader{};  ///< for each operator the head of its group's first branch; -1: in no group
  array_of<branch[max_siblings], V> member{};  ///< the branches of a group, by the head of the first one
  array_of<int, V> count{};
};

/// Collects groups of branches that can be merged.
template <int V, int E, int O>
constexpr void collect_siblings(sibling_groups<V>& r, graph<V, E, O> const& g, branches<V> const& all) {
  array_of<int, V> newest{}, older{};  // groups that read each value
  for (int v = 0; v < g.node_count; ++v) newest[v] = -1;
  for (int v = g.input_count; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    if (!has_weights(n.kind) || n.kind == op::depthwise || n.groups != 1 || n.is_merged()) continue;
    if (all.uses.readers[g.operand(v)] < 2) continue;
    branch const b = all.from(g, v);
    int const joined = all.joined_by(g, b);
    if (joined < 0 && !can_be_slice(g, all, b)) continue;
    int u = newest[g.operand(v)];
    for (; u >= 0; u = older[u])
      if (r.count[u] < max_siblings && are_siblings(g, all, r.member[u][0], b) &&
          all.joined_by(g, r.member[u][0]) == joined)
        break;
    if (u < 0) {
      older[v] = newest[g.operand(v)];
      u = newest[g.operand(v)] = v;
    }
    r.member[u][r.count[u]++] = b;
  }
}

/// Keeps the most branches that concatenation v joins side by side, in its order; other values may come before and
/// after them. Returns their number.
constexpr int arrange(graph_view g, int v, branch* member, int count) {
  int const operands = g.nodes[v].input_count;
  branch longest[max_siblings]{}, run[max_siblings]{};
  int most = 0, length = 0;
  for (int k = 0; k < operands; ++k) {
    int at = 0;
    while (at < count && member[at].tail != g.operand(v, k)) ++at;
    if (at == count) length = 0;
    else run[length++] = member[at];
    if (length <= most) continue;
    most = length;
    for (int i = 0; i < most; ++i) longest[i] = run[i];
  }
  for (int i = 0; i < most; ++i) member[i] = longest[i];
  return most;
}

/// Does merging pay?
template <int V, int E, int O>
constexpr bool pays(graph<V, E, O> const& g, branches<V> const& all, branch const* member, int count,
                    merging const& m) {
  if (m.siblings == horizontal_fusion::always) return true;
  sibling_account account(g.source(member[0].head).out, g.nodes[member[0].head].win, m);
  for (int k = 0; k < count; ++k) account.add(g.nodes[member[k].tail].out, all.uses.is_output[member[k].tail]);
  return account.savings().any();
}

template <int V, int E, int O>
constexpr sibling_groups<V> siblings_of(graph<V, E, O> const& g, merging const& m) {
  branches<V> const all(g);
  sibling_groups<V> r;
  for (int v = 0; v < g.node_count; ++v) r.leader[v] = -1;
  if (m.siblings == horizontal_fusion::off) return r;
  collect_siblings(r, g, all);
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (r.count[v] == 0) continue;
    if (int const joined = all.joined_by(g, r.member[v][0]); joined >= 0)
      r.count[v] = arrange(g, joined, r.member[v], r.count[v]);
    if (r.count[v] < 2 || !pays(g, all, r.member[v], r.count[v], m)) {
      r.count[v] = 0;
      continue;
    }
    for (int k = 0; k < r.count[v]; ++k)
      for (int u = r.member[v][k].head, i = 0; i < r.member[v][k].length; u = all.uses.reader[u], ++i) r.leader[u] = v;
  }
  return r;
}

/// Appends a node that reads `operand`.
template <int V, int E, int O>
constexpr int append(graph<V, E, O>& g, node n, int operand) {
  n.input_first = g.edge_count;
  n.input_count = 1;
  g.edges[g.edge_count++] = operand;
  g.nodes[g.node_count] = n;
  return g.node_count++;
}

/// Appends the merged group of v, and slices of its result, unless a concatenation reads the whole of it; `moved_to`
/// maps old nodes to new ones.
template <int V, int E, int O, int V2, int E2>
constexpr void append_merged(graph<V2, E2, O>& to, graph<V, E, O> const& g, sibling_groups<V> const& groups, int v,
                             branches<V> const& all, int* moved_to) {
  branch const* const member = groups.member[v];
  int at[max_siblings]{}, last = moved_to[g.operand(v)], channels = 0;
  for (int k = 0; k < groups.count[v]; ++k) {
    at[k] = member[k].head;
    channels += g.nodes[at[k]].out.c;
  }
  for (int i = 0; i < member[0].length; ++i) {
    node merged = g.nodes[at[0]];
    merged.out.c = channels;
    if (merged.kind == op::prelu) merged.entries = channels;
    for (int k = 1; k < groups.count[v]; ++k) {
      node const& n = g.nodes[at[k]];
      merged.siblings[k - 1] = {n.out.c, n.weight, n.shift, n.norm};
    }
    last = append(to, merged, last);
    for (int k = 0; k < groups.count[v]; ++k) at[k] = all.uses.reader[at[k]];
  }
  int first = 0;
  bool const joined = all.joined_by(g, member[0]) >= 0;
  for (int k = 0; k < groups.count[v]; ++k) {
    node const& n = g.nodes[member[k].tail];
    moved_to[member[k].tail] = last;
    if (joined) continue;
    node part{.kind = op::slice, .out = n.out, .begin = first, .layer = n.layer, .line = n.line, .name = n.name};
    moved_to[member[k].tail] = append(to, part, last);
    first += n.out.c;
  }
}

/// Does merge_siblings() change the graph?
template <int V, int E, int O>
constexpr bool has_siblings(graph<V, E, O> const& g, merging const& m) {
  sibling_groups<V> const groups = siblings_of(g, m);
  for (int const n : groups.count)
    if (n > 1) return true;
  return false;
}

/// Merges siblings, all or where it pays: convolutions, pointwise or linear operators that read the same value through
/// equal windows, followed by the same biases and elementwise functions. They are merged only if this costs nothing
/// elsewhere: their readers read slices of channels, or a concatenation reads the whole result. Only slices that are
/// outputs are copied. The order of sums stays the same, except that a bias after such a concatenation becomes their
/// initial value.
template <int V, int E, int O>
constexpr graph<V + V / 2, E + V / 2, O> merge_siblings(graph<V, E, O> const& g, merging const& m) {
  sibling_groups<V> const groups = siblings_of(g, m);
  passes::branches<V> const all(g);
  auto r = fit<V + V / 2, E + V / 2, O>(g);
  r.node_count = r.edge_count = 0;
  array_of<int, V> moved_to{};
  for (int v = 0; v < g.node_count; ++v) {
    if (groups.count[v] > 1) append_merged(r, g, groups, v, all, moved_to);
    if (groups.leader[v] >= 0) continue;
    node n = g.nodes[v];
    n.input_first = r.edge_count;
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const u = g.operand(v, k);
      bool const joined = k > 0 && n.kind == op::concat && groups.leader[u] >= 0;
      if (joined && moved_to[u] == r.edges[r.edge_count - 1]) --n.input_count;  // one value in place of several
      else r.edges[r.edge_count++] = moved_to[u];
    }
    moved_to[v] = r.node_count;
    r.nodes[r.node_count++] = n;
  }
  for (int i = 0; i < g.output_count; ++i) r.outputs[i] = moved_to[g.outputs[i]];
  return r;
}

}  // namespace ago::passes
