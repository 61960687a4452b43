// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apollo's partitioner (Zhao et al., MLSys 2022): its layers, and the feedback that removes rules.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/partition/apollo_layers.hpp>
#include <ago/partition/atoms.hpp>
#include <ago/partition/device.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/passes/opening.hpp>

namespace ago::partition {

/// Groups of operators after each of Apollo's layers; the groups of each layer are unions of those before.
template <int V, int E>
struct apollo_groups {
  grouping<V> aggregated, stitched, parallel;
  array_of<std::uint8_t, slots<E>> rule_of{};  ///< place of the rule that contracted each edge, plus one; 0: none did
};

/// `limit`: bytes that parallel branches may hold together. `without`: rules that do not apply.
template <int V, int E>
constexpr apollo_groups<V, E> apollo(apollo_graph<V, E> const& g, long limit, apollo_rule_set without = 0) {
  apollo_layers<V, E> a(g, without);
  apollo_groups<V, E> r;
  a.aggregate();
  r.aggregated = a.c.groups(g.operators.count);
  a.stitch_memory();
  r.stitched = a.c.groups(g.operators.count);
  a.stitch_parallel(limit);
  r.parallel = a.c.groups(g.operators.count);
  for (int e = 0; e < g.operators.first[g.operators.count]; ++e) r.rule_of[e] = a.rule_of[e];
  return r;
}

/// Stands for an opened_graph if no operator is opened.
struct nothing_opened {};
inline constexpr nothing_opened no_compounds{};

/// Is the edge from operator u to operator v inside a compound operator of `all` whose primitives are all in one group?
/// Then its own kernel computes them.
template <int V, int E, int O>
constexpr bool closes(graph<V, E, O> const&, grouping<V> const&, nothing_opened, int, int) {
  return false;
}
template <int V, int E, int O>
constexpr bool closes(graph<V, E, O> const& g, grouping<V> const& groups, opened_graph<V, E, O> const& all, int u,
                      int v) {
  int const* const of = all.compound + g.input_count;
  int const count = g.node_count - g.input_count;
  if (of[u] != of[v]) return false;
  for (int i = v; i >= 0 && of[i] == of[v]; --i)  // they follow one another
    if (groups.of[i] != groups.of[v]) return false;
  for (int i = v; i < count && of[i] == of[v]; ++i)
    if (groups.of[i] != groups.of[v]) return false;
  return true;
}

/// The feedback from fusion to partition (section 4): the rules of the first two layers by which no kernel of this
/// library can compute a producer with its consumer, anywhere in the network.
template <int V, int E, int O>
constexpr apollo_rule_set failed_rules(graph<V, E, O> const& g, apollo_layers<V, E> a, auto const& all) {
  static_assert(rules_in(aggregation_rules) + rules_in(stitching_rules) <= 16);
  dag<V, E> const& operators = a.g.operators;
  grouping<V> const groups = a.c.groups(operators.count);
  grouping<V> const kernels = atoms_of(g, groups);
  unsigned applied = 0, worked = 0;
  for (int v = 0; v < operators.count; ++v)
    for (int e = operators.first[v]; e < operators.first[v + 1]; ++e) {
      if (a.rule_of[e] == 0) continue;
      int const u = operators.source[e];
      unsigned const rule = 1u << (a.rule_of[e] - 1);
      applied |= rule;
      if (kernels.of[u] == kernels.of[v] || closes(g, groups, all, u, v)) worked |= rule;
    }
  return apollo_rule_set(applied & ~worked);
}

template <int V, int E>
constexpr apollo_layers<V, E> first_two_layers(apollo_graph<V, E> const& seen, apollo_rule_set removed) {
  apollo_layers<V, E> a(seen, removed);
  a.aggregate();
  a.stitch_memory();
  return a;
}

template <int V, int E, int O>
constexpr partitions<V> partitions_of(graph<V, E, O> const& g, dag<V, E> const& operators, grouping<V> const& parallel,
                                      grouping<V> const& stitched) {
  partitions<V> r = ordered(g, operators, parallel, stitched);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = r.minis.of[v];
  r.intensive = false;
  return r;
}

/// The rules that feedback removes. Without those that have failed, others apply, which may fail as well. `all`: the
/// opened_graph whose graph `g` is, or nothing_opened.
template <int V, int E, int O>
constexpr apollo_rule_set apollo_feedback(graph<V, E, O> const& g, apollo_graph<V, E> const& seen, auto const& all) {
  for (apollo_rule_set removed = 0;;) {
    apollo_rule_set const failed = failed_rules(g, first_two_layers(seen, removed), all);
    if (failed == 0) return removed;
    removed = apollo_rule_set(removed | failed);
  }
}
template <int V, int E, int O>
constexpr apollo_rule_set apollo_feedback(graph<V, E, O> const& g, apollo_graph<V, E> const& seen) {
  return apollo_feedback(g, seen, no_compounds);
}

template <int V, int E, int O>
constexpr partitions<V> apollo_partition(graph<V, E, O> const& g, auto const& all, device const& on) {
  apollo_graph<V, E> const seen = apollo_graph_of(g, dag_of(g));
  apollo_groups<V, E> const groups = apollo(seen, on.l2_bytes, apollo_feedback(g, seen, all));
  return partitions_of(g, seen.operators, groups.parallel, groups.stitched);
}

/// Apollo as a policy: subgraphs are the groups after all layers; mini-subgraphs are the groups without parallel
/// branches, which threads compute side by side (plan/divide_steps.hpp). What branches hold together must fit L2. Rules
/// are removed by `apollo_feedback`.
template <int V, int E, int O>
constexpr partitions<V> apollo_partition(graph<V, E, O> const& g, device const& on = {}) {
  return apollo_partition(g, no_compounds, on);
}

/// apollo_partition in several constant evaluations, without the rules `Removed` and those that fail then.
template <auto const& G, auto const& All, device On, apollo_rule_set Removed = 0>
struct apollo_phases {
 private:
  static constexpr auto operators = dag_of(G);
  static constexpr auto seen = apollo_graph_of(G, operators);
  static constexpr auto layers = [](auto const& g) { return apollo_layers(g, Removed); }(seen);
  static constexpr auto aggregated = [](auto a) { return a.aggregate(), a; }(layers);
  static constexpr auto stitched = [](auto a) { return a.stitch_memory(), a; }(aggregated);
  static constexpr apollo_rule_set failed = failed_rules(G, stitched, All);
  static constexpr auto groups_of(auto layers) { return layers.c.groups(operators.count); }

 public:
  static constexpr auto partition = []() AGO_CONSTEVAL {
    if constexpr (failed != 0) {
      return apollo_phases<G, All, On, apollo_rule_set(Removed | failed)>::partition;
    } else {
      constexpr auto parallel = [](auto a) { return a.stitch_parallel(On.l2_bytes), a; }(stitched);
      return partitions_of(G, operators, groups_of(parallel), groups_of(stitched));
    }
  }();
};

/// Apollo's policy. It opens all compound operators.
struct apollo_policy {
  static constexpr char const* name = "apollo";
  static constexpr opening opens{};
  static constexpr auto partition(auto const& g, device const& on) { return apollo_partition(g, on); }
  static constexpr auto partition_opened(auto const&, auto const& all, device const& on) {
    return apollo_partition(all.graph, all, on);
  }
  /// The rules that feedback removes from the tables.
  static constexpr apollo_rule_set removed_rules(auto const& all) {
    return apollo_feedback(all.graph, apollo_graph_of(all.graph, dag_of(all.graph)), all);
  }
  template <auto const& G, device On>
  using phases = apollo_phases<G, no_compounds, On>;
  template <auto const& G, auto const& All, auto const& Primitives, device On>
  using phases_opened = apollo_phases<Primitives, All, On>;
};

}  // namespace ago::partition
