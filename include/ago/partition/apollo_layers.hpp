// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apollo's layers: aggregation by rules, memory stitching, parallelism stitching (Zhao et al., MLSys 2022).
#pragma once

#include <ago/partition/apollo_rules.hpp>
#include <ago/partition/contraction.hpp>

#include <initializer_list>

namespace ago::partition {

template <int V, int E>
struct apollo_layers {
  apollo_graph<V, E> const& g;
  contraction<V, E> c;
  array_of<apollo_type, slots<V>> type{};
  array_of<shape, slots<V>> loops{};
  array_of<reduce_form, slots<V>> form{};
  array_of<long, slots<V>> bytes{};
  array_of<int, slots<V>> sweep{};
  int sweeps{};
  apollo_rule_set removed;
  array_of<std::uint8_t, slots<E>> rule_of{};  ///< place of the rule that contracted each edge, plus one; 0: none did

  constexpr explicit apollo_layers(apollo_graph<V, E> const& graph, apollo_rule_set without)
      : g(graph), c(graph.operators), removed(without) {
    for (int v = 0; v < g.operators.count; ++v) {
      type[v] = g.type[v];
      loops[v] = g.loops[v];
      form[v] = g.form[v];
      bytes[v] = g.bytes[v];
    }
  }

  /// Contracts the edges between groups p and c to which a rule from `first` to `last` applies and for which
  /// `consistent(p, c)` holds, unless a cycle arises (Algorithm 1), and repeats that until no such edge is left. A
  /// group that has grown waits for the next round. `place`: of the first rule.
  constexpr void apply(apollo_rule const* first, apollo_rule const* last, int place, auto const& consistent) {
    for (bool again = true; again;) {
      again = false;
      ++sweeps;
      for (int v = 0; v < g.operators.count; ++v)
        for (int e = g.operators.first[v]; e < g.operators.first[v + 1]; ++e) {
          int const p = c.find(g.operators.source[e]), q = c.find(v);
          if (p == q || sweep[p] == sweeps || sweep[q] == sweeps) continue;
          apollo_rule const* r = first;
          while (r != last && (r->p != type[p] || r->c != type[q] || (removed >> (place + (r - first)) & 1))) ++r;
          if (r == last || !consistent(p, q) || c.has_detour(p, q)) continue;
          if (r->a == type[q]) {
            loops[p] = loops[q];
            form[p] = form[q];
          }
          type[p] = r->a;
          rule_of[e] = std::uint8_t(place + (r - first) + 1);
          bytes[p] += bytes[q];
          c.absorb(p, q);
          sweep[p] = sweeps;
          again = true;
        }
    }
  }

  /// Applies a table, rules of equal priority together. `place`: of its first rule.
  template <int N>
  constexpr void apply(apollo_rule const (&table)[N], int place, auto const& consistent) {
    for (int i = 0, end = 0; i < N; i = end) {
      while (end < N && table[end].number == table[i].number && table[end].a == table[i].a) ++end;
      apply(table + i, table + end, place + i, consistent);
    }
  }

  /// Algorithm 1.
  constexpr void aggregate() {
    apply(aggregation_rules, 0, [](int, int) { return true; });
  }

  /// Algorithm 2: groups of the same loop nest; reductions also of the same canonical form.
  constexpr void stitch_memory() {
    apply(stitching_rules, rules_in(aggregation_rules), [&](int p, int q) {
      if (loops[p] != loops[q]) return false;
      return type[q] != apollo_type::reduction || (form[p] == form[q] && form[p] != reduce_form::none);
    });
  }

  // Layer III, Algorithm 3. Branches meet in groups with several producers (which the paper calls multi-head) and start
  // from groups with several consumers (multi-tail).
  array_of<int, slots<V>> group_of{};              ///< of each operator, when a pattern begins
  array_of<int, slots<V>> producer{}, consumer{};  ///< of each group, plus one; 0: none, -1: several
  array_of<int, slots<V>> branch{};
  array_of<int, slots<V> + 1> branch_first{};
  int branches{};                           ///< a set of candidates, in the order of visits
  array_of<int, slots<V>> live{}, group{};  ///< branches with candidates left, and one of each

  /// Calls visit(p, q) for every operand of each operator that is in another group.
  constexpr void for_each_edge(auto const& visit) const {
    for (int v = 0; v < g.operators.count; ++v)
      for (int e = g.operators.first[v]; e < g.operators.first[v + 1]; ++e)
        if (group_of[g.operators.source[e]] != group_of[v]) visit(group_of[g.operators.source[e]], group_of[v]);
  }
  constexpr void find_neighbours() {
    for (int v = 0; v < g.operators.count; ++v) {
      group_of[v] = c.find(v);
      producer[v] = consumer[v] = 0;
    }
    for_each_edge([&](int p, int q) {
      producer[q] = producer[q] == 0 || producer[q] == p + 1 ? p + 1 : -1;
      consumer[p] = consumer[p] == 0 || consumer[p] == q + 1 ? q + 1 : -1;
    });
  }

  /// Appends a branch that begins with group x and leads along `next`, consumers or producers. It ends before a group
  /// that has several in the other direction, `back`, and after one that has several in its own. Opaque groups, and
  /// those that the processor's arithmetic limits, are no candidates.
  constexpr void add_branch(int x, int const* next, int const* back) {
    int n = branch_first[branches];
    while (back[x] >= 0) {
      if (type[x] != apollo_type::matmul && type[x] != apollo_type::conv && type[x] != apollo_type::opaque)
        branch[n++] = x;
      if (next[x] <= 0) break;
      x = next[x] - 1;
    }
    if (n > branch_first[branches]) branch_first[++branches] = n;
  }

  /// The number of groups of a list that are put side by side. Eq. (3): their gain is the sum of their costs minus the
  /// largest. It is never negative, so the resource decides: what they hold together must fit `limit` bytes.
  constexpr int paying(int const* list, int n, long limit) const {
    long held = 0;
    for (int i = 0; i < n; ++i)
      if (held += bytes[list[i]]; held > limit) return i > 1 ? i : 1;
    return n;
  }

  constexpr bool independent(int a, int b) {
    if (c.label[a] > c.label[b]) return independent(b, a);
    for (int e = c.outs[a]; e >= 0; e = c.out_next[e])
      if (c.to[e] == b) return false;
    return !c.has_detour(a, b);
  }

  /// Algorithm 3, lines 3 to 11, for the branches of a set: repeatedly takes one group of each, heaviest first, and
  /// stitches as many as pay.
  constexpr void stitch_branches(long limit) {
    for (int b = 0; b < branches; ++b) live[b] = b;
    for (int round = 0, count = branches;; ++round) {
      int n = 0;
      for (int k = 0; k < count; ++k) {
        int const b = live[k];
        if (branch_first[b] + round >= branch_first[b + 1]) continue;
        int const x = branch[branch_first[b] + round];
        live[n] = b;
        int i = n++;
        for (; i > 0 && c.weight[group[i - 1]] < c.weight[x]; --i) group[i] = group[i - 1];
        group[i] = x;
      }
      count = n;
      if (n < 2) return;
      for (int m = 0, k = n; k >= 2; k = n - m) {
        k = paying(group + m, k, limit);
        for (int i = 1; i < k; ++i) stitch(group[m], group[m + i]);
        m += k;
      }
    }
  }
  constexpr void stitch(int a, int b) {
    if (!independent(a, b)) return;
    bytes[a] += bytes[b];
    c.absorb(a, b);
  }

  /// The sets of groups that have several producers (`backward`) or several consumers, each with its branches.
  constexpr void stitch_around_groups(bool backward, long limit) {
    find_neighbours();
    int const* const next = backward ? producer : consumer;
    int const* const back = backward ? consumer : producer;
    array_of<int, slots<V> + 1> first{};
    array_of<int, slots<E>> end{};
    array_of<int, slots<V>> at{}, seen{};  // seen: plus one
    array_of<bool, slots<V>> visited{};
    for_each_edge([&](int p, int q) { ++first[(backward ? q : p) + 1]; });
    for (int x = 0; x < g.operators.count; ++x) first[x + 1] += at[x] = first[x];
    for_each_edge([&](int p, int q) { end[at[backward ? q : p]++] = backward ? p : q; });
    for (int v = 0; v < g.operators.count; ++v) {
      int const x = group_of[v];
      if (next[x] >= 0 || visited[x]) continue;
      visited[x] = true;
      branches = 0;
      for (int i = first[x]; i < first[x + 1]; ++i)
        if (seen[end[i]] != x + 1) {
          seen[end[i]] = x + 1;
          add_branch(end[i], next, back);
        }
      stitch_branches(limit);
    }
  }

  /// The sets of groups that read the same input of the network, and no other group. One that reads several inputs is
  /// in the set of the first.
  constexpr void stitch_readers_of_inputs(long limit) {
    find_neighbours();
    array_of<int, slots<V> + 1> first{};
    array_of<int, slots<V>> next{};  // operators by input, plus one
    array_of<bool, slots<V>> taken{};
    int inputs = 0;
    for (int v = g.operators.count - 1; v >= 0; --v) {
      int const k = g.input[v];
      next[v] = first[k];
      first[k] = v + 1;
      inputs = k > inputs ? k : inputs;
    }
    for (int k = 1; k <= inputs; ++k) {
      branches = 0;
      for (int v = first[k] - 1; v >= 0; v = next[v] - 1) {
        int const x = group_of[v];
        if (producer[x] != 0 || taken[x]) continue;
        taken[x] = true;
        add_branch(x, consumer, producer);
      }
      stitch_branches(limit);
    }
  }

  /// Independent branches, up to seven: those that end together, as in a common consumer, or if there are none, those
  /// that begin together.
  constexpr void stitch_independent(long limit) {
    constexpr int most = 7;
    find_neighbours();
    for (bool const backward : {true, false}) {
      array_of<bool, slots<V>> visited{};
      branches = 0;
      for (int v = 0; v < g.operators.count && branches < most; ++v) {
        int const x = group_of[v];
        if (visited[x] || (backward ? consumer : producer)[x] != 0) continue;
        visited[x] = true;
        add_branch(x, backward ? producer : consumer, backward ? consumer : producer);
      }
      if (branches < 2) continue;
      stitch_branches(limit);
      return;
    }
  }

  /// Algorithm 3: the patterns in its order.
  constexpr void stitch_parallel(long limit) {
    stitch_around_groups(true, limit);
    stitch_around_groups(false, limit);
    stitch_readers_of_inputs(limit);
    stitch_independent(limit);
  }
};

}  // namespace ago::partition
