// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a graph to its inspection.
#pragma once

#include "describe.hpp"
#include "inspection.hpp"
#include "policies.hpp"
#include "run_time_program.hpp"

#include <ago/partition/weight.hpp>
#include <ago/plan/predicted_time.hpp>

namespace ago::tools {

namespace detail {

template <int V, int E, int O>
inspected_node inspect_node(graph<V, E, O> const& g, partitions<V> const& p, int v) {
  node const& n = g.nodes[v];
  inspected_node r{.kind = n.kind,
                   .function = n.function_name ? n.function_name : "",
                   .name = n.name ? n.name : "",
                   .details = describe(n),
                   .out = n.out,
                   .layer = n.layer,
                   .line = n.line,
                   .weight = v < g.input_count ? 0 : weight_of(g, v),
                   .multiply_adds = v < g.input_count ? 0 : multiply_adds(g, v),
                   .subgraph = p.subgraphs.of[v],
                   .mini = p.minis.of[v]};
  for (int o = 0; o < g.output_count; ++o) r.is_output = r.is_output || g.outputs[o] == v;
  return r;
}

/// The operators that a part computes.
template <int V, int E, int O>
std::vector<int> nodes_of(graph<V, E, O> const& g, step_nodes const& s) {
  std::vector<int> nodes;
  auto const add = [&](int v) {
    if (v >= g.input_count && (nodes.empty() || nodes.back() != v)) nodes.push_back(v);
  };
  if (s.attention) {
    add(g.operand(g.operand(s.main)));
    add(g.operand(s.main));
  }
  add(s.main);
  add(s.bias);
  for (int k = 0; k < s.stage_count; ++k) add(s.stages[k]);
  add(s.copy_to_output < 0 ? s.result : -1);  // the value that is copied, or a bias without a kernel
  return nodes;
}

template <int V, int E, int O>
inspected_part inspect_part(graph<V, E, O> const& g, planned_step const& p) {
  inspected_part part{p.key.what, p.key.tile, p.nodes.bias >= 0 ? "bias" : "", p.data.in, p.data.out};
  for (int k = 0; k < p.nodes.stage_count; ++k)
    part.epilogue += (part.epilogue.empty() ? "" : ", ") + std::string(label_of(g.nodes[p.nodes.stages[k]]));
  return part;
}

template <class Program>
inspected_step inspect_step(Program const& p, int i, moved_bytes const& moved, device const& on) {
  auto const& g = p.graph;
  int const first = p.first_part(i), last = p.first_part(i + 1);
  planned_step const* const parts = p.plan.steps;
  inspected_step s;
  s.tiles = p.groups.tiles[i];
  for (int k = first; k < last; ++k) {
    s.parts.push_back(inspect_part(g, parts[k]));
    for (int const v : nodes_of(g, parts[k].nodes)) s.nodes.push_back(v);
  }
  s.subgraph = s.nodes.empty() ? -1 : p.partition.subgraphs.of[s.nodes.front()];
  s.account = account_of(g, parts + first, last - first);
  s.moved = moved;
  s.cycles = predict_step(parts + first, last - first, s.tiles, moved, on).sum();
  return s;
}

}  // namespace detail

/// The inspection of `whole` (after the passes, unmerged) for `o.policy`, `o.target` and `o.device`. The caller sets
/// the network's name and size. Throws std::length_error, see run_time_program.
template <int V, int E, int O>
inspection inspect(graph<V, E, O> const& whole, options const& o = {}) {
  run_time_program<V, E, O> const program(whole, o);
  auto const& g = program.graph;
  auto const& p = program.partition;
  inspection r;
  r.policy = with_policy(o.policy, []<class Policy>() { return name_of_policy<Policy>(); });
  r.target = o.target;
  r.device = o.device;
  r.inputs = g.input_count;
  r.minis = p.minis.count;
  r.removed_rules = program.removed_rules();
  r.statistics = program.statistics();
  r.arena_bytes = program.arena_bytes();
  r.weight_bytes = program.weight_bytes();
  r.subgraphs.resize(std::size_t(p.subgraphs.count));
  for (int v = 0; v < g.node_count; ++v) {
    r.nodes.push_back(detail::inspect_node(g, p, v));
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const from = g.operand(v, k);
      r.edges.push_back({from, v, 4 * long(g.nodes[from].out.count())});
    }
    if (v < g.input_count) continue;
    inspected_subgraph& s = r.subgraphs[std::size_t(r.nodes.back().subgraph)];
    ++s.operators;
    s.complex += is_complex(g.nodes[v].kind);
    s.weight += r.nodes.back().weight;
  }
  auto const moved = program.moved();
  for (int i = 0; i < program.steps(); ++i) {
    r.steps.push_back(detail::inspect_step(program, i, moved->of[i], o.device));
    inspected_step const& s = r.steps.back();
    for (int const v : s.nodes)
      if (int& step = r.nodes[std::size_t(v)].step; step < 0) step = i;
    if (s.subgraph < 0) continue;
    ++r.subgraphs[std::size_t(s.subgraph)].steps;
    r.subgraphs[std::size_t(s.subgraph)].cycles += s.cycles;
  }
  return r;
}

}  // namespace ago::tools
