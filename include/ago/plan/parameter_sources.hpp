// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sources of a step's parameters: those of its operators, and of the siblings that were merged into them.
#pragma once

#include <ago/plan/form_steps.hpp>

namespace ago::plan {

/// What to pack for the channels of a sibling, in addition to planned_step::packing.
struct merged_packing {
  int step{};
  packing_data from{};
};

template <int N>
struct merged_packings {
  array_of<merged_packing, N> of{};
  int count = 0;

  constexpr merged_packing const* begin() const { return of; }
  constexpr merged_packing const* end() const { return of + count; }
};

/// The channels and parameters of a part of an operator: part 0 is its own, the others are its siblings.
struct operator_part {
  sibling parameters{};
  int first = 0;  ///< first channel
};

constexpr operator_part part_of(node const& n, int part) {
  int own = n.out.c;
  for (sibling const& s : n.siblings) own -= s.channels;
  operator_part r{{own, n.weight, n.shift, n.norm}};
  for (int k = 0; k < part; ++k) {
    r.first += r.parameters.channels;
    r.parameters = n.siblings[k];
  }
  return r;
}

constexpr int parts_of(node const& n) {
  int parts = 1;
  for (sibling const& s : n.siblings) parts += s.channels > 0;
  return parts;
}

/// Restricts `from` to the channels of `part` if the operator is merged.
constexpr void narrow(parameter_source& from, node const& n, operator_part const& part) {
  if (!n.is_merged()) return;
  from.start = -part.first;
  from.of = part.parameters.channels;
}

/// A source of none of the channels of `n`.
constexpr parameter_source nothing(node const& n) { return {.start = n.out.c}; }

/// The source of the weights of a step's main operator, and of the bias from which its accumulators start.
constexpr parameter_source main_source(graph_view g, step_nodes const& s, int part) {
  node const& n = g.nodes[s.main];
  if (part >= parts_of(n)) return nothing(n);
  operator_part const p = part_of(n, part);
  parameter_source r{p.parameters.weight, p.parameters.norm, -1, -1, n.alpha};
  narrow(r, n, p);
  if (n.kind == op::layer_norm) r.shift = n.shift;
  if (s.bias < 0) return r;
  node const& bias = g.nodes[s.bias];
  sibling const b = part_of(bias, bias.is_merged() ? part : 0).parameters;
  r.shift = b.shift >= 0 && !bias.is_merged() ? b.shift + p.first : b.shift;  // one bias after all parts
  r.shift_norm = b.norm;
  if (r.norm < 0) r.epsilon = bias.alpha;
  return r;
}

/// The source of a stage's parameters.
constexpr parameter_source stage_source(node const& n, int part) {
  if (part >= parts_of(n)) return nothing(n);
  operator_part const p = part_of(n, part);
  parameter_source r{p.parameters.weight, -1, p.parameters.shift, p.parameters.norm, n.alpha};
  narrow(r, n, p);
  return r;
}

/// The largest number of parts of an operator of this step.
constexpr int parts_of(graph_view g, step_nodes const& s) {
  int most = s.main >= 0 ? parts_of(g.nodes[s.main]) : 1;
  for (int i = 0; i < s.stage_count; ++i)
    if (int const parts = parts_of(g.nodes[s.stages[i]]); parts > most) most = parts;
  return most;
}

template <int S, int V, int E, int O>
constexpr int count_merged(graph<V, E, O> const& g, step_list<S> const& steps) {
  int sum = 0;
  for (int i = 0; i < steps.count; ++i) sum += parts_of(g, steps.step[i]) - 1;
  return sum;
}

/// `N`: count_merged(), or more.
template <int N, int S, int V, int E, int O>
constexpr merged_packings<N> merged_packings_of(graph<V, E, O> const& g, step_list<S> const& steps) {
  merged_packings<N> r;
  for (int i = 0; i < steps.count; ++i) {
    step_nodes const& s = steps.step[i];
    for (int part = 1; part < parts_of(g, s); ++part) {
      merged_packing& p = r.of[r.count++];
      p.step = i;
      if (s.main >= 0) p.from.main = main_source(g, s, part);
      for (int k = 0; k < s.stage_count; ++k) p.from.after[k] = stage_source(g.nodes[s.stages[k]], part);
    }
  }
  return r;
}

}  // namespace ago::plan
