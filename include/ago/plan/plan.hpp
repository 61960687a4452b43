// The plan: for every step its kernel's key and data, and what to pack for it.
#pragma once

#include <ago/plan/depthwise_schedule.hpp>
#include <ago/plan/matrix_schedule.hpp>
#include <ago/plan/memory.hpp>
#include <ago/plan/packing.hpp>
#include <ago/plan/schedule.hpp>
#include <ago/plan/signature.hpp>

namespace ago {

struct planned_step {
  kernel_key key{};
  step_data data{};
  packing_data packing{};
  step_nodes nodes{};
  std::uint64_t signature{};
  bool tuned{};  ///< the schedule comes from the table
};

template <int N>
struct plan {
  planned_step steps[N > 0 ? N : 1]{};
  long packed_floats = 0;
  int tuned_steps = 0;
};

namespace detail {

constexpr structure structure_of(op kind) {
  switch (kind) {
    case op::pointwise:
    case op::linear: return structure::pointwise;
    case op::conv2d: return structure::convolution;
    case op::depthwise: return structure::depthwise;
    case op::max_pool: return structure::max_pool;
    case op::avg_pool: return structure::avg_pool;
    case op::global_max_pool: return structure::global_max_pool;
    case op::global_avg_pool: return structure::global_avg_pool;
    case op::from_nchw: return structure::from_nchw;
    case op::to_nchw: return structure::to_nchw;
    default: return structure::elementwise;
  }
}

/// Places, shapes and numbers of a step; everything but the schedule.
template <int V, int E, int O>
constexpr void describe(graph<V, E, O> const& g, step_nodes const& s, memory_plan<V> const& m, planned_step& p) {
  step_data& d = p.data;
  p.nodes = s;
  d.source = m.at[s.source];
  d.destination = m.at[s.result];
  d.in = g.nodes[s.source].out;
  d.out = g.nodes[s.result].out;
  if (s.copy_to_concat >= 0) {
    d.destination.offset += s.copy_channel;
    d.out = d.in;
  }
  if (s.copy_to_output >= 0) d.destination = {place::area::output, s.copy_to_output, 0, d.out.c};
  if (s.main >= 0) {
    node const& n = g.nodes[s.main];
    p.key.what = structure_of(n.kind);
    d.win = n.win;
    d.groups = n.kind == op::conv2d ? n.groups : 1;
    d.count_pads = n.count_pads;
    p.packing.main = {n.weight, n.norm, -1, -1, n.alpha};
    if (s.bias >= 0) {
      p.packing.main.shift = g.nodes[s.bias].shift;
      p.packing.main.shift_norm = g.nodes[s.bias].norm;
      if (n.norm < 0) p.packing.main.epsilon = g.nodes[s.bias].alpha;
    }
  } else {
    p.key.what = structure::elementwise;
  }
  for (int i = 0; i < s.stage_count; ++i) {
    node const& n = g.nodes[s.stages[i]];
    p.key.after.stages[i] = {n.kind, n.function};
    stage_data& a = d.after[i];
    a.alpha = n.alpha;
    a.beta = n.beta;
    if (s.others[i] >= 0) {
      a.operand = m.at[s.others[i]];
      if (!(g.nodes[s.others[i]].out == n.out)) a.operand.pixel_stride = 0;
    }
    p.packing.after[i] = {-1, -1, n.shift, n.norm, n.alpha};
  }
}

/// Register and cache tile, from the table or else by the analytic default; `in`: the pipeline's tiling. `convolution`:
/// what is decided already.
constexpr void choose_schedule(planned_step& p, schedule const& wish, chain_tiling const& in,
                               convolution_step const& convolution) {
  kernel_key& k = p.key;
  k.partial = p.data.out.c / p.data.groups % lanes(k.target) != 0;
  if (convolution.chosen()) convolution.apply(k, p.data);
  if (k.what == structure::pointwise || k.what == structure::convolution) choose_matrix(k, p.data, wish, in);
  if (k.what == structure::depthwise) choose_depthwise(k, p.data, wish);
}

}  // namespace detail

/// The plan of `steps`, grouped into pipelines, on `target`, with schedules from `table` (see schedule_table) where it
/// knows a step. `convolutions`: as given to plan_memory.
template <int N, int V, int E, int O>
constexpr plan<N> make_plan(graph<V, E, O> const& g, step_list<V + E + O> const& steps,
                            fusion_list<V + E + O> const& groups, memory_plan<V> const& m, auto const& table,
                            isa target, convolution_list<V + E + O> const& convolutions = {}) {
  plan<N> r;
  for (int i = 0; i < N; ++i) {
    planned_step& p = r.steps[i];
    p.key.target = target;
    detail::describe(g, steps.step[i], m, p);
    p.signature = signature_of(g, steps.step[i], target);
    schedule const* const found = table.find(p.signature);
    p.tuned = found != nullptr;
    r.tuned_steps += p.tuned;
    int const group = groups.group_of[i];
    chain_tiling const& tiles = groups.tiles[group];
    p.key.accumulates = by_channels(tiles.how) && p.key.what == structure::pointwise && i > groups.first[group];
    detail::choose_schedule(p, found ? *found : schedule{}, tiles, convolutions.step[i]);
    if (convolutions.step[i].chosen()) p.data.scratch = m.scratch[steps.step[i].main];
    p.data.weights = r.packed_floats;
    r.packed_floats += (packed_floats(p.key, p.data) + 15) / 16 * 16;
    for (int k = 0; k < steps.step[i].stage_count; ++k) {
      long const floats = packed_floats(p.key.after.stages[k], target, p.data.out.c);
      if (floats == 0) continue;
      p.data.after[k].parameters = r.packed_floats;
      r.packed_floats += (floats + 15) / 16 * 16;
    }
  }
  return r;
}

}  // namespace ago
