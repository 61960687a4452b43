// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Straightforward versions of the partitioner's parts, written from their definitions: everything is always recomputed.
// Shares no code with the library except the compared types.
#pragma once

#include <ago/partition/dag.hpp>

#include <algorithm>
#include <climits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace oracle {

struct network {
  std::vector<long> weight;
  std::vector<int> complex;
  std::vector<std::vector<int>> sources;  // operands in order, may repeat

  int size() const { return int(weight.size()); }
};

using groups = std::vector<int>;  // any number per node; equal numbers: one group
using edges = std::set<std::pair<int, int>>;

inline groups singletons(network const& n) {
  groups g(n.weight.size());
  std::iota(g.begin(), g.end(), 0);
  return g;
}

/// Every group named by its smallest member.
inline groups canonical(groups g) {
  groups first(g);
  for (std::size_t v = 0; v < g.size(); ++v) first[v] = int(std::find(g.begin(), g.end(), g[v]) - g.begin());
  return first;
}

inline edges edges_between(network const& n, groups const& of) {
  edges q;
  for (int v = 0; v < n.size(); ++v)
    for (int u : n.sources[v])
      if (of[u] != of[v]) q.insert({of[u], of[v]});
  return q;
}

/// Groups reachable from `from` by at least one edge. Names of groups are below `size`.
inline std::vector<bool> reached(edges const& q, int from, int size) {
  std::vector<std::vector<int>> next(size);
  for (auto [a, b] : q) next[a].push_back(b);
  std::vector<bool> seen(size);
  std::vector<int> todo{from};
  while (!todo.empty()) {
    int const a = todo.back();
    todo.pop_back();
    for (int b : next[a])
      if (!seen[b]) seen[b] = true, todo.push_back(b);
  }
  return seen;
}

/// Whether no group is reachable from itself.
inline bool acyclic(network const& n, groups const& of) {
  edges const q = edges_between(n, of);
  int const size = of.empty() ? 0 : *std::max_element(of.begin(), of.end()) + 1;
  for (int a : std::set<int>(of.begin(), of.end()))
    if (reached(q, a, size)[a]) return false;
  return true;
}

/// The number of nodes of the longest path that ends in each group, by relaxation until nothing changes.
inline std::vector<int> stages(network const& n, groups const& of) {
  std::vector<int> stage(n.weight.size(), 1);
  std::vector<std::pair<int, int>> between;
  for (auto e : edges_between(n, of)) between.push_back(e);
  for (bool again = true; again;) {
    again = false;
    for (auto [a, b] : between)
      if (stage[b] < stage[a] + 1) stage[b] = stage[a] + 1, again = true;
  }
  return stage;
}

enum class affix { adjacent, component };

/// Algorithm 1 with the candidate set as a set, and stages computed anew after each contraction. A group has the number
/// of its smallest member.
inline groups cluster(network const& n, long limit, int complex_limit = INT_MAX, affix mode = affix::adjacent) {
  groups of = singletons(n);
  std::vector<long> weight = n.weight;
  std::vector<int> complex = n.complex;
  std::set<int> candidates(of.begin(), of.end());
  while (!candidates.empty()) {
    int v = -1;
    for (int x : candidates)
      if (v < 0 || weight[x] > weight[v]) v = x;
    edges const q = edges_between(n, of);
    std::vector<int> const stage = stages(n, of);
    std::set<int> near;
    for (auto [a, b] : q) {
      if (a == v) near.insert(b);
      if (b == v) near.insert(a);
    }
    if (mode == affix::component) {
      edges both = q;
      for (auto [a, b] : q) both.insert({b, a});
      auto const seen = reached(both, v, n.size());
      for (int x = 0; x < n.size(); ++x)
        if (seen[x] && x != v) near.insert(x);
    }
    int u = -1;
    for (int x : near)
      if (std::abs(stage[x] - stage[v]) == 1 && complex[x] + complex[v] <= complex_limit &&
          (u < 0 || weight[x] < weight[u]))
        u = x;
    if (u >= 0 && weight[u] + weight[v] < limit) {
      int const name = std::min(u, v), other = std::max(u, v);
      for (int& x : of)
        if (x == other) x = name;
      weight[name] = weight[u] + weight[v];
      complex[name] = complex[u] + complex[v];
      candidates.erase(other);
      candidates.insert(name);
    } else {
      candidates.erase(v);
    }
  }
  return of;
}

/// Only the edges inside groups.
inline network inside(network n, groups const& of) {
  for (int v = 0; v < n.size(); ++v) std::erase_if(n.sources[v], [&](int u) { return of[u] != of[v]; });
  return n;
}

/// Whether groups a and b can be contracted, that is, every path between them is a single edge.
inline bool contractible(network const& n, groups const& of, int a, int b) {
  edges q = edges_between(n, of);
  q.erase({a, b});
  q.erase({b, a});
  return !reached(q, a, n.size())[b] && !reached(q, b, n.size())[a];
}

/// Execution order by repeated scans: the first ready node.
inline std::vector<int> order(network const& n) {
  std::vector<int> r;
  std::vector<bool> done(n.weight.size());
  for (int v = 0; v < n.size();) {
    if (!done[v] && std::all_of(n.sources[v].begin(), n.sources[v].end(), [&](int u) { return done[u]; })) {
      done[v] = true;
      r.push_back(v);
      v = 0;
    } else {
      ++v;
    }
  }
  return r;
}

/// Every node that does not start a group joins the group of the first operand for which this is possible.
inline groups split_by_epilogue(network const& whole, groups const& subgraphs, std::vector<bool> const& starts) {
  network const n = inside(whole, subgraphs);
  groups of = singletons(n);
  for (int v : order(n)) {
    if (starts[v]) continue;
    for (int u : n.sources[v])
      if (contractible(n, of, of[u], of[v])) {
        of[v] = of[u];
        break;
      }
  }
  return of;
}

template <int V, int E>
network view(ago::partition::dag<V, E> const& d) {
  network n;
  for (int v = 0; v < d.count; ++v) {
    n.weight.push_back(d.weight[v]);
    n.complex.push_back(d.complex[v]);
    n.sources.emplace_back(d.source + d.first[v], d.source + d.first[v + 1]);
  }
  return n;
}

template <int V>
groups view(ago::grouping<V> const& g, int count) {
  return canonical(groups(g.of, g.of + count));
}

}  // namespace oracle
