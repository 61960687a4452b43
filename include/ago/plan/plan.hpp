// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan: for every step the key and data of its kernel, and the sources of its packed weights.
#pragma once

#include <ago/kernel/units.hpp>
#include <ago/plan/input_runs.hpp>
#include <ago/plan/memory.hpp>
#include <ago/plan/movement_loops.hpp>
#include <ago/plan/packing.hpp>
#include <ago/plan/parameter_sources.hpp>
#include <ago/plan/schedule.hpp>
#include <ago/plan/signature.hpp>

namespace ago::plan {

struct planned_step {
  kernel_key key{};
  planned_data data{};
  packing_data packing{};
  step_nodes nodes{};
  std::uint64_t signature{};
  bool tuned{};  ///< the schedule comes from the table
};

template <int N>
struct execution_plan {
  array_of<planned_step, N> steps{};
  long packed_floats = 0;
  long packed_end = 0;  ///< of the last step's weights: less where steps share memory (storage::trained)
  int tuned_steps = 0;

  /// The place of further packed weights.
  constexpr int reserve(long floats) {
    long const at = packed_end;
    packed_end += (floats + 15) / 16 * 16;
    if (packed_end > packed_floats) packed_floats = packed_end;
    return int(at);
  }
};

/// Describes the main operator of a step: its structure, its data, and the sources of its parameters.
template <int V, int E, int O>
constexpr void describe_main(graph<V, E, O> const& g, step_nodes const& s, memory_plan<V> const& m, planned_step& p) {
  planned_data& d = p.data;
  node const& n = g.nodes[s.main];
  p.key.what = structure_of(g, s);
  p.key.transposed = n.transposed;
  if (is_reduction(n.kind)) p.key.reduces = n.kind;
  d.win = n.win;
  d.groups = n.kind == op::embedding ? n.entries : has_weights(n.kind) && n.kind != op::conv2d ? 1 : n.groups;
  d.count_pads = n.count_pads;
  if (!has_weights(n.kind)) d.alpha = s.attention ? g.source(g.operand(s.main)).alpha : n.alpha;
  d.last_of_equals = n.last_of_equals;
  d.rounds = n.rounds;
  d.positions = n.positions;
  d.patch = n.patch;
  if (n.kind == op::pad && d.in.c != d.out.c) d.loops = loops_of_pad(d, n.pad_channels);
  if (kernel::copies(p.key.what)) d.loops = loops_of(n, d, s.piece_at);
  p.key.described = n.described;
  p.key.weight_operand = std::int8_t(n.weight_operand);
  for (int i = 0; i < max_inputs - 1 && s.inputs[i] >= 0; ++i) {
    d.other[i] = m.at[s.inputs[i]];
    d.other_shape = g.nodes[s.inputs[i]].out;
  }
  p.packing.main = main_source(g, s, 0);
  p.packing.main.scatter = n.scatter;
}

/// Narrows a step to a segment of its source.
constexpr void describe_piece(step_nodes const& s, planned_step& p) {
  planned_data& d = p.data;
  int const channels = d.out.c;
  d.in.c = d.out.c = s.piece.count;
  d.source.offset += s.piece.first;
  if (s.gathers && s.piece.step > 1) {  // to channels that are not contiguous
    p.key.what = structure::copy;
    d.loops = loops_of_scatter(d, 3, s.piece.start, s.piece.step);
    return;
  }
  d.destination.offset += s.piece_at;
  auto const narrow = [&](parameter_source& from) {
    if (from.step == 0) return;
    from.start = s.piece.start;
    from.step = s.piece.step;
    from.of = channels;
  };
  narrow(p.packing.main);
  for (int i = 0; i < s.stage_count; ++i) narrow(p.packing.after[i]);
}

/// Describes the other operand of a binary stage with results of shape `out`: its shape is `of`, its place `at`.
constexpr void describe_operand(shape const& of, place const& at, shape const& out, stage& k, stage_data& a) {
  a.operand = at;
  k.one_channel = of.c != out.c;
  if (of.h != out.h || of.w != out.w) {
    a.operand.pixel_stride = 0;
    a.image_step = of.n == 1 ? 0 : of.c;
  } else if (of.n != out.n) {
    a.image_step = -out.h * out.w * at.pixel_stride;
  }
}

/// Describes a step: places, shapes and data, everything except the schedule.
template <int V, int E, int O>
constexpr void describe(graph<V, E, O> const& g, step_nodes const& s, memory_plan<V> const& m, planned_step& p) {
  planned_data& d = p.data;
  p.nodes = s;
  d.source = m.at[s.source];
  d.destination = m.at[s.result];
  d.in = g.nodes[s.source].out;
  d.out = g.nodes[s.result].out;
  if (s.copy_to_output >= 0) d.destination = {place::area::output, std::uint16_t(s.copy_to_output), 0, d.out.c};
  p.key.what = structure::elementwise;
  if (s.main >= 0) describe_main(g, s, m, p);
  for (int i = 0; i < s.stage_count; ++i) {
    node const& n = g.nodes[s.stages[i]];
    p.key.after.stages[i] = {n.kind, n.function};
    stage_data& a = d.after[i];
    a.alpha = n.alpha;
    a.beta = n.beta;
    p.key.after.stages[i].reversed = s.reversed[i];
    if (s.others[i] >= 0)
      describe_operand(g.nodes[s.others[i]].out, m.at[s.others[i]], n.out, p.key.after.stages[i], a);
    p.packing.after[i] = stage_source(n, 0);
    if (n.kind == op::prelu && n.entries == 1) p.packing.after[i].step = 0;
  }
  if (!s.is_whole()) describe_piece(s, p);
}

/// Chooses register and cache tile: the wish from the table, or the analytic default. `in`: the tiling of the pipeline,
/// of which it is the first part or not; `convolution`: a choice that was already made.
constexpr void choose_schedule(planned_step& p, schedule const& wish, chain_tiling const& in, bool is_first,
                               convolution_step const& convolution, options const& o) {
  kernel_key& k = p.key;
  k.accumulates = by_channels(in.how) && !is_first && facts_of(k.what).adds_portions(k.what);
  if (convolution.chosen()) convolution.apply(k, p.data);
  k.in_order = has_in_order_loops(k.what, k.target, o.device);
  if (kernel::contracts(k.what)) k.factors = o.factors;
  facts_of(k.what).choose(k, p.data, wish, in, o.device);
  // Vectors do not span two groups.
  k.partial = has_partial_vector(k, k.joined_pixels * p.data.out.c / facts_of(k.what).channel_groups(k.what, p.data));
}

/// Are there other channels between the pixels of the result?
constexpr bool has_gaps(planned_data const& d) { return d.destination.pixel_stride != d.out.c; }

/// Is the same schedule chosen for both, apart from one in the table and from choices that were made before, if they
/// are computed in the same tiles?
constexpr bool chosen_alike(planned_step const& a, planned_step const& b) {
  kernel_key const &k = a.key, &l = b.key;
  planned_data const &d = a.data, &e = b.data;
  return k.what == l.what && k.after == l.after && k.transposed == l.transposed && k.reduces == l.reduces &&
         k.described == l.described && k.weight_operand == l.weight_operand && k.made_operand == l.made_operand &&
         k.folded_operand == l.folded_operand && k.in_runs == l.in_runs && d.in == e.in && d.out == e.out &&
         d.win == e.win && d.groups == e.groups && d.source.pixel_stride == e.source.pixel_stride &&
         has_gaps(d) == has_gaps(e) && d.run_count == e.run_count && d.odd_runs == e.odd_runs &&
         d.pixel_floats == e.pixel_floats;
}

/// The steps planned last for which a schedule was chosen: networks repeat blocks.
struct chosen_schedules {
  struct choice {
    int step = -1;
    chain_tiling in{};
    bool is_first{};
  };
  choice last[64]{};

  /// Takes the schedule of an equal step, or chooses one; see choose_schedule.
  constexpr void choose(planned_step* steps, int i, chain_tiling const& in, bool is_first, options const& o) {
    planned_step& p = steps[i];
    choice& c = last[p.signature & 63];
    if (c.step >= 0 && c.in == in && c.is_first == is_first && chosen_alike(steps[c.step], p)) {
      p.key = steps[c.step].key;
      p.data.block = steps[c.step].data.block;
    } else {
      choose_schedule(p, {}, in, is_first, {}, o);
      c = {i, in, is_first};
    }
  }
};

/// The plan of up to N `steps`, grouped into pipelines, for `o`, with schedules from `table` (see schedule_table) for
/// the steps that it contains. `convolutions`: as passed to plan_memory. The caller, for whom `runs` have an address,
/// sets planned_data::runs.
///
/// Of large networks, pieces can be planned: the N steps from `first` on, after those of the piece `before`.
template <int N, int Runs = 0, int M = N, int B = N, int S, int V, int E, int O>
constexpr execution_plan<N> make_plan(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                      memory_plan<V> const& m, auto const& table, options const& o,
                                      convolution_list<S> const& convolutions = {},
                                      input_run_table<Runs, M> const& runs = input_run_table<Runs, M>{}, int first = 0,
                                      execution_plan<B> const* before = nullptr) {
  execution_plan<N> r;
  chosen_schedules seen;
  r.packed_floats = before ? before->packed_floats : m.constant_floats;
  r.packed_end = before ? before->packed_end : m.constant_floats;
  for (int i = first; i < steps.count && i < first + N; ++i) {
    planned_step& p = r.steps[i - first];
    p.key.target = o.target;
    describe(g, steps.step[i], m, p);
    p.key.in_runs = runs.scattered[i];
    p.data.run_count = runs.count[i];
    p.data.odd_runs = runs.odd[i];
    if (runs.count[i] > 0) p.data.source = runs.run[runs.first[i]].at;
    if (runs.scattered[i]) p.data.pixel_floats = floats_in_lines(runs.run + runs.first[i], runs.count[i]);
    p.signature = signature_of(g, steps.step[i], o);
    auto const found = table.find(p.signature);
    p.tuned = bool(found);
    r.tuned_steps += p.tuned;
    int const group = groups.group_of[i];
    chain_tiling const& tiles = groups.tiles[group];
    bool const is_first = i == groups.first[group];
    p.key.made_operand = made_operand(g, steps.step[i], tiles, is_first, o);
    p.key.folded_operand = folded_operand(g, steps.step[i], tiles, is_first);
    if (found || convolutions.step[i].chosen())
      choose_schedule(p, found ? *found : schedule{}, tiles, is_first, convolutions.step[i], o);
    else seen.choose(r.steps, i - first, tiles, is_first, o);
    if (convolutions.step[i].chosen()) p.data.scratch = int(m.scratch[steps.step[i].main]);
    else if (!kernel::contracts(p.key.what) && kernel::scratch_floats(p.key, p.data) > 0) ir::no_case_for_this_value();
    if (is_first && o.storage == storage::trained) r.packed_end = 0;
    p.data.weights = r.reserve(kernel::packed_floats(p.key, p.data));
    for (int k = 0; k < steps.step[i].stage_count; ++k) {
      long const floats = packed_floats(p.key.after.stages[k], p.key.target, p.data.out);
      if (floats > 0) p.data.after[k].parameters = r.reserve(floats);
    }
  }
  return r;
}
/// One piece after another.
template <int N, int... M>
constexpr execution_plan<N> join(execution_plan<M> const&... pieces) {
  execution_plan<N> r;
  int count = 0;
  auto const append = [&](auto const& piece, int n) {
    for (int i = 0; i < n; ++i) r.steps[count++] = piece.steps[i];
    r.packed_floats = piece.packed_floats;
    r.packed_end = piece.packed_end;
    r.tuned_steps += piece.tuned_steps;
  };
  (append(pieces, M), ...);
  return r;
}

/// Does the second part of this pipeline prefetch what the first one, of elementwise operators, reads next? Elementwise
/// operators read faster than memory delivers, so that it would idle while the second part multiplies, and prefetches
/// that come faster than that are dropped (measured on Zen 4). Depthwise operators multiply little, and take longer
/// with what L3 has room for.
constexpr bool fetches_ahead(fused_key const& f) {
  kernel_key const &first = f.part[0], &second = f.part[1];
  bool const by_rows = f.tiling == tiling::rows || (f.tiling == tiling::fold && f.parts > 2);
  if (!by_rows || first.what != structure::elementwise || is_scheduled_by_hand(first.target)) return false;
  if (second.what == structure::depthwise) return first.fetches_ahead && second.kernel_h > 0;
  bool const in_place = !second.accumulates && !second.gathers && !second.in_runs && !second.paired;
  return second.what == structure::pointwise && first.fetches_input && in_place;
}

/// The key of `count` kernels, part_at(i), in one pipeline, or of one alone.
constexpr fused_key pipeline_key(tiling how, int count, auto const& part_at) {
  fused_key r{count};
  r.tiling = how;
  for (int i = 0; i < count; ++i) r.part[i] = part_at(i);
  r.part[1].fetches_ahead = fetches_ahead(r);
  return r;
}
/// That of group `k` of the steps.
template <int S, int N>
constexpr fused_key key_of(fusion_list<S> const& groups, execution_plan<N> const& p, int k) {
  return pipeline_key(groups.tiles[k].how, groups.parts[k], [&](int i) { return p.steps[groups.first[k] + i].key; });
}

}  // namespace ago::plan
