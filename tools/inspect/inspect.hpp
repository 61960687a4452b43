// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a graph to its inspection.
#pragma once

#include "describe.hpp"
#include "graph_plan.hpp"
#include "inspection.hpp"
#include "policies.hpp"

#include <ago/partition/weight.hpp>
#include <ago/plan/predicted_time.hpp>

#include <algorithm>

namespace ago::tools {

namespace detail {

template <int V, int E, int O>
inspected_node inspect_node(ir::graph<V, E, O> const& g, partitions<V> const& p, int v) {
  ir::node const& n = g.nodes[v];
  inspected_node r{.kind = n.kind,
                   .function = n.function_name ? n.function_name : "",
                   .name = n.name ? n.name : "",
                   .details = describe(n),
                   .out = n.out,
                   .layer = n.layer,
                   .line = n.line,
                   .weight = v < g.input_count ? 0 : partition::weight_of(g, v),
                   .multiply_adds = v < g.input_count ? 0 : partition::multiply_adds(g, v),
                   .subgraph = p.subgraphs.of[v],
                   .mini = p.minis.of[v]};
  for (int o = 0; o < g.output_count; ++o) r.is_output = r.is_output || g.outputs[o] == v;
  return r;
}

/// The operators that a part computes.
template <int V, int E, int O>
std::vector<int> nodes_of(ir::graph<V, E, O> const& g, plan::step_nodes const& s) {
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
inspected_part inspect_part(ir::graph<V, E, O> const& g, plan::planned_step const& p) {
  inspected_part part{p.key.what, p.key.tile, p.nodes.bias >= 0 ? "bias" : "",
                      p.data.in,  p.data.out, nodes_of(g, p.nodes)};
  for (int k = 0; k < p.nodes.stage_count; ++k)
    part.epilogue += (part.epilogue.empty() ? "" : ", ") + std::string(ir::label_of(g.nodes[p.nodes.stages[k]]));
  return part;
}

template <class Plan>
inspected_step inspect_step(Plan const& p, int i, plan::moved_bytes const& moved, device const& on) {
  auto const& g = p.graph;
  int const first = p.first_part(i), last = p.first_part(i + 1);
  inspected_step s;
  s.tiles = p.tiling_of(i);
  for (int k = first; k < last; ++k) {
    s.parts.push_back(inspect_part(g, p.part(k)));
    for (int const v : s.parts.back().nodes) s.nodes.push_back(v);
  }
  s.subgraph = s.nodes.empty() ? -1 : p.partition.subgraphs.of[s.nodes.front()];
  s.account = plan::account_of(g, &p.part(first), last - first);
  s.moved = moved;
  s.cycles = plan::predict_step(&p.part(first), last - first, s.tiles, moved, on).sum();
  return s;
}

/// Calls f(u) for each value with memory in which readers find value v; -1: none.
template <class Plan>
void for_each_in_memory(Plan const& p, int v, auto const& f) {
  auto const& layouts = p.layouts;
  if (v >= 0 && !layouts.is_view[v]) f(v);
  for (int r = 0; v >= 0 && layouts.is_view[v] && r < layouts.runs[v].count; ++r) f(layouts.runs[v].run[r].value);
}

/// What flows from step to step.
template <class Plan>
std::vector<inspected_flow> inspect_flows(Plan const& p) {
  auto const& g = p.graph;
  std::vector<std::vector<int>> writers(std::size_t(g.node_count)), copied(std::size_t(g.output_count));
  std::vector<inspected_flow> flows;
  for (int i = 0; i < p.steps(); ++i) {
    auto const before = std::ptrdiff_t(flows.size());
    auto const flow = [&](int from, int v) {
      inspected_flow const one{from, i, v};
      if (from != i && std::find(flows.begin() + before, flows.end(), one) == flows.end()) flows.push_back(one);
    };
    auto const read = [&](int u) {
      for_each_in_memory(p, u, [&](int v) {
        for (int const from : writers[std::size_t(v)]) flow(from, v);
        if (v < g.input_count && g.nodes[v].kind != op::constant) flow(-1, v);
      });
    };
    for (int k = p.first_part(i); k < p.first_part(i + 1); ++k) {
      plan::step_nodes const& s = p.part(k).nodes;
      plan::for_each_read(s, [&](int v, int) { read(v); });
      if (s.copy_to_output >= 0) copied[std::size_t(s.copy_to_output)].push_back(i);
      for (int v = s.copy_to_output < 0 ? s.result : -1; v >= 0; v = p.views.parent[v])
        if (auto& w = writers[std::size_t(v)]; w.empty() || w.back() != i) w.push_back(i);
    }
  }
  for (int o = 0; o < g.output_count; ++o) {
    std::vector<int> from = copied[std::size_t(o)];
    if (from.empty()) for_each_in_memory(p, g.outputs[o], [&](int v) { from = writers[std::size_t(v)]; });
    for (int const i : from) flows.push_back({i, -1, g.outputs[o]});
  }
  return flows;
}

}  // namespace detail

/// The inspection of `whole` (after the passes, unmerged) for the policy, target and device that are given. The caller
/// sets the network's name and size. Throws std::length_error, see plan_of().
template <int V, int E, int O>
inspection inspect(ir::graph<V, E, O> const& whole, options const& given = {}) {
  options const o = plan::resolved(given);
  auto const made = plan_of(whole, o);
  graph_plan<V, E, O> const& plan = *made;
  auto const& g = plan.graph;
  auto const& p = plan.partition;
  inspection r;
  r.policy = tools::with_policy(o.policy, []<class Policy>() { return name_of_policy<Policy>(); });
  r.target = o.target;
  r.device = o.device;
  r.inputs = g.input_count;
  r.minis = p.minis.count;
  r.removed_rules = plan.removed_rules();
  r.statistics = plan.statistics();
  r.arena_bytes = 4 * long(plan.arena_floats());
  r.weight_bytes = 4 * long(plan.packed_floats());
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
    s.complex += ir::is_complex(g.nodes[v].kind);
    s.weight += r.nodes.back().weight;
  }
  auto const moved = plan.moved();
  for (int i = 0; i < plan.steps(); ++i) {
    r.steps.push_back(detail::inspect_step(plan, i, moved.of[i], o.device));
    inspected_step const& s = r.steps.back();
    for (int const v : s.nodes)
      if (int& step = r.nodes[std::size_t(v)].step; step < 0) step = i;
    if (s.subgraph < 0) continue;
    ++r.subgraphs[std::size_t(s.subgraph)].steps;
    r.subgraphs[std::size_t(s.subgraph)].cycles += s.cycles;
  }
  r.flows = detail::inspect_flows(plan);
  for (int b = 0; b < plan.memory.buffer_count; ++b) {
    plan::buffer const& x = plan.memory.buffers[b];
    r.values.push_back({x.value, x.first, x.last, 4 * x.offset, 4 * x.floats, x.scratch, x.over >= 0});
  }
  return r;
}

}  // namespace ago::tools
