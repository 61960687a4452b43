// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apollo's layers, written from the text of its paper: everything is always recomputed. Shares no code with the library
// but the graph.
#pragma once

#include "oracle.hpp"
#include "random_network.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace paper {

enum type { elementwise, broadcast, reduction, transpose, matmul, conv, opaque };
struct rule {
  type p, c, a;
};
/// Table 1 in the order of Algorithm 1, line 4, rules of equal priority in braces; Table 2 in that of Algorithm 2.
inline std::vector<std::vector<rule>> const table_1{
    {{elementwise, elementwise, elementwise}},
    {{broadcast, elementwise, broadcast}},
    {{broadcast, broadcast, broadcast}},
    {{elementwise, reduction, reduction}},
    {{broadcast, reduction, reduction}},
    {{elementwise, transpose, transpose}, {broadcast, transpose, transpose}},
    {{matmul, elementwise, matmul}, {elementwise, matmul, matmul}},
    {{conv, elementwise, conv}, {elementwise, conv, conv}}};
inline std::vector<std::vector<rule>> const table_2{
    {{reduction, elementwise, reduction}, {reduction, broadcast, reduction}}, {{reduction, reduction, reduction}}};

using extents = std::array<int, 4>;
inline extents extents_of(ago::shape const& s) { return {s.n, s.h, s.w, s.c}; }

/// Definitions 1 to 4 for an operator whose loops are those of its result and operands.
inline type type_by_relations(std::vector<extents> const& operands, extents const& result) {
  bool injective = false, surjective = false;
  for (extents const& operand : operands)
    for (int l = 0; l < 4; ++l) {
      if (operand[l] == result[l]) continue;
      if (operand[l] != 1 && result[l] != 1) return opaque;
      (operand[l] == 1 ? injective : surjective) = true;
    }
  return surjective ? reduction : injective ? broadcast : elementwise;
}

inline type type_of(test::random_graph const& g, int v) {
  ago::ir::node const& n = g.nodes[v];
  if (n.kind == ago::op::conv2d || n.kind == ago::op::depthwise || n.kind == ago::op::pointwise) return conv;
  if (n.kind == ago::op::linear || n.kind == ago::op::matmul) return matmul;
  if (n.kind == ago::op::permute || n.kind == ago::op::from_nchw || n.kind == ago::op::to_nchw) return transpose;
  if (n.kind == ago::op::softmax || n.kind == ago::op::layer_norm) return reduction;  // closed
  bool const by_relations = ago::ir::is_elementwise(n.kind) || n.kind == ago::op::identity ||
                            n.kind == ago::op::expand || n.kind == ago::op::global_avg_pool ||
                            n.kind == ago::op::global_max_pool ||
                            (n.kind >= ago::op::reduce_sum && n.kind <= ago::op::arg_max);
  if (!by_relations) return opaque;
  std::vector<extents> operands;
  for (int k = 0; k < n.input_count; ++k)
    if (ago::ir::node const& operand = g.source(v, k); n.input_count == 1 || operand.kind != ago::op::constant)
      operands.push_back(extents_of(operand.out));
  return type_by_relations(operands, extents_of(n.out));
}

/// A micro-graph.
struct group {
  std::set<int> operators;
  type of;
  extents loops;
  std::string form;  // canonical: "all", "inner", "outer"; otherwise empty
  long cost, bytes;
};

inline std::string form_of(extents const& from, extents const& to) {
  std::string loops;  // r: reduced, p: parallel, coalesced
  for (int l = 0; l < 4; ++l)
    if (from[l] != 1)
      if (char const c = to[l] == 1 ? 'r' : 'p'; loops.empty() || loops.back() != c) loops += c;
  return loops == "r" ? "all" : loops == "pr" ? "inner" : loops == "rp" ? "outer" : "";
}

struct network {
  oracle::network edges;
  std::vector<int> input;      // the first input of the network that each operator reads; -1: none
  std::map<int, group> alive;  // by number; a group that changes gets a new one
  std::vector<int> number;     // of each operator's group
  int next{};

  explicit network(test::random_graph const& g) : edges(oracle::view(ago::partition::dag_of(g))) {
    for (int v = g.input_count; v < g.node_count; ++v) {
      ago::ir::node const& n = g.nodes[v];
      group x{{next}, type_of(g, v),      extents_of(n.out),
              "",     edges.weight[next], 4 * n.out.count() + ago::partition::weight_bytes(g, v)};
      if (x.of == reduction) {
        x.loops = extents_of(g.source(v).out);
        bool const closed = n.kind == ago::op::softmax || n.kind == ago::op::layer_norm;
        x.form = form_of(x.loops, closed ? extents{n.out.n, n.out.h, n.out.w, 1} : extents_of(n.out));
      }
      int read = -1;
      for (int k = n.input_count - 1; k >= 0; --k)
        if (g.operand(v, k) < g.input_count) read = g.operand(v, k);
      input.push_back(read);
      number.push_back(next);
      alive[next++] = x;
    }
  }

  int merge(int p, int c, type of) {
    group x = alive.at(p), y = alive.at(c);
    if (of == y.of) x.loops = y.loops, x.form = y.form;
    x.of = of;
    x.cost += y.cost, x.bytes += y.bytes;
    x.operators.merge(y.operators);
    for (int v : x.operators) number[v] = next;
    alive.erase(p), alive.erase(c);
    alive[next] = x;
    return next++;
  }
  bool acyclic_with(int a, int b) const {
    oracle::groups merged = number;
    for (int& x : merged)
      if (x == b) x = a;
    return oracle::acyclic(edges, merged);
  }

  /// Algorithms 1 and 2: a table by priorities.
  template <class Consistent>
  void aggregate(std::vector<std::vector<rule>> const& table, Consistent const& consistent) {
    for (auto const& rules : table)
      for (bool changed = true; changed;) {
        changed = false;
        int const before = next;  // groups from here on are not yet in Fx
        for (int v = 0; v < edges.size(); ++v)
          for (int u : edges.sources[v]) {
            int const p = number[u], c = number[v];
            if (p == c || p >= before || c >= before) continue;
            for (rule const& r : rules)
              if (alive.at(p).of == r.p && alive.at(c).of == r.c && consistent(alive.at(p), alive.at(c)) &&
                  acyclic_with(p, c)) {
                merge(p, c, r.a);
                changed = true;
                break;
              }
          }
      }
  }
  void stitch_memory(std::vector<std::vector<rule>> const& table = table_2) {
    aggregate(table, [](group const& p, group const& c) {
      return p.loops == c.loops && (c.of != reduction || (p.form == c.form && !p.form.empty()));
    });
  }

  /// The groups in the order of their first operators.
  std::vector<int> in_order() const {
    std::vector<int> r;
    for (int n : number)
      if (std::find(r.begin(), r.end(), n) == r.end()) r.push_back(n);
    return r;
  }
  /// The groups that x reads (or that read x), each once.
  std::vector<int> neighbours(int x, bool producers) const {
    std::vector<int> r;
    for (int v = 0; v < edges.size(); ++v)
      for (int u : edges.sources[v]) {
        int const from = producers ? number[v] : number[u], to = producers ? number[u] : number[v];
        if (from == x && to != x && std::find(r.begin(), r.end(), to) == r.end()) r.push_back(to);
      }
    return r;
  }
  bool is_multi(int x, bool producers) const { return neighbours(x, producers).size() > 1; }

  using branch = std::vector<int>;
  /// Section 4.3: from x on, towards producers or consumers, until an operator with several of either.
  branch traversed(int x, bool to_producers) const {
    branch r;
    while (!is_multi(x, !to_producers)) {
      type const of = alive.at(x).of;
      if (of != matmul && of != conv && of != opaque) r.push_back(x);
      auto const next = neighbours(x, to_producers);
      if (next.size() != 1) break;
      x = next.front();
    }
    return r;
  }
  /// Pattern 0: branches that meet in a group; 1: that start from one; 2: from an input; 3: independent ones.
  std::vector<std::vector<branch>> sets_of(int pattern, int inputs) const {
    std::vector<std::vector<branch>> sets;
    auto const add = [&](std::vector<int> const& ends, bool to_producers) {
      std::vector<branch> found;
      for (int x : ends)
        if (auto b = traversed(x, to_producers); !b.empty()) found.push_back(b);
      sets.push_back(found);
    };
    auto const all = in_order();
    if (pattern < 2)
      for (int x : all)
        if (is_multi(x, pattern == 0)) add(neighbours(x, pattern == 0), pattern == 0);
    if (pattern == 2) {
      std::set<int> taken;
      for (int k = 0; k < inputs; ++k) {
        std::vector<int> readers;
        for (int v = 0; v < edges.size(); ++v)
          if (input[v] == k && neighbours(number[v], true).empty() && taken.insert(number[v]).second)
            readers.push_back(number[v]);
        add(readers, false);
      }
    }
    if (pattern == 3)
      for (bool const to_producers : {true, false}) {
        std::vector<int> ends;
        for (int x : all)
          if (neighbours(x, !to_producers).empty() && !traversed(x, to_producers).empty() && ends.size() < 7)
            ends.push_back(x);
        if (ends.size() < 2) continue;
        add(ends, to_producers);
        break;
      }
    return sets;
  }

  /// Lines 3 to 11.
  void stitch(std::vector<branch> s, long limit) {
    auto const pays = [&](std::vector<int> const& list) {
      long sum = 0, largest = 0, held = 0;
      for (int x : list) {
        sum += alive.at(x).cost, held += alive.at(x).bytes;
        largest = std::max(largest, alive.at(x).cost);
      }
      return sum - largest > 0 && held <= limit;
    };
    for (;;) {
      std::vector<std::array<long, 3>> sorted;  // negative cost, place, group
      for (branch& b : s) {
        if (b.empty()) continue;
        sorted.push_back({-alive.at(b.front()).cost, long(sorted.size()), b.front()});
        b.erase(b.begin());
      }
      if (sorted.size() < 2) return;
      std::sort(sorted.begin(), sorted.end());
      std::vector<int> all;
      for (auto const& x : sorted) all.push_back(int(x[2]));
      std::size_t m = 0, k = all.size();
      while (m < all.size() && k >= 2) {
        std::vector<int> const list(all.begin() + std::ptrdiff_t(m), all.begin() + std::ptrdiff_t(m + k));
        if (pays(list)) {
          int merged = list.front();
          for (std::size_t i = 1; i < list.size(); ++i)
            if (independent(merged, list[i])) merged = merge(merged, list[i], alive.at(merged).of);
          m += k;
          k = all.size() - m;
        } else if (--k == 1) {
          m += 1;
          k = all.size() - m;
        }
      }
    }
  }
  bool independent(int a, int b) const {
    auto const q = oracle::edges_between(edges, number);
    return !oracle::reached(q, a, next)[std::size_t(b)] && !oracle::reached(q, b, next)[std::size_t(a)];
  }
  void stitch_parallel(int inputs, long limit) {
    for (int pattern = 0; pattern < 4; ++pattern)
      for (auto const& s : sets_of(pattern, inputs)) stitch(s, limit);
  }
};

}  // namespace paper
