// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static memory: every value that crosses a step boundary is placed before the program runs.
#pragma once

#include <ago/plan/convolution_schedule.hpp>
#include <ago/plan/fusion.hpp>
#include <ago/plan/place_buffers.hpp>
#include <ago/plan/step_split.hpp>

namespace ago::plan {

/// Places of all values. Sizes and offsets are in floats, offsets multiples of 16 (64 bytes).
template <int V>
struct memory_plan {
  array_of<place, V> at{};
  array_of<long, V> scratch{};  ///< offset of each operator's scratch, if it has one
  array_of<buffer, 2 * V> buffers{};
  int buffer_count = 0;
  long arena_floats = 0;
  long constant_floats = 0;  ///< trained values, which are stored before the packed weights of all steps
};

template <int V>
constexpr int root_of(concat_views<V> const& views, int v) {
  while (views.parent[v] >= 0) v = views.parent[v];
  return v;
}

/// Floats of the part of a value that exists at a time. `step` writes the value; -1: several steps do.
template <int Capacity>
constexpr long floats_kept(fusion_list<Capacity> const& groups, int step, shape const& s) {
  if (step < 0 || groups.ring[step] == 0) return s.count();
  bool const runs = groups.tiles[groups.group_of[step]].how == tiling::pixels;
  return long(groups.ring[step]) * (runs ? 1 : s.w) * (groups.chunk[step] > 0 ? groups.chunk[step] : s.c);
}

/// Places the values that are in the memory of others, which are placed already.
template <int V, int E, int O>
constexpr void place_views(memory_plan<V>& m, graph<V, E, O> const& g, concat_views<V> const& views,
                           channel_layouts<V> const& layouts) {
  for (int v = g.node_count - 1; v >= 0; --v)  // parents come later in the graph
    if (views.parent[v] >= 0) {
      m.at[v] = m.at[views.parent[v]];
      m.at[v].offset += views.channel[v];
      if (g.nodes[views.parent[v]].kind == op::reshape) m.at[v].pixel_stride = g.nodes[v].out.c;
    }
  for (int v = 0; v < g.node_count; ++v)  // views
    if (layouts.is_view[v] && layouts.runs[v].is_plain(g.nodes[v].out.c)) {
      m.at[v] = m.at[layouts.runs[v].run[0].value];
      m.at[v].offset += layouts.runs[v].run[0].first;
    }
}

/// Places buffers greedily by size; with several threads, also by the lines that cores would exchange. Steps that
/// `splits` divides need the buffers between their parts and their scratch once for each work item, and steps that
/// share a barrier do not share memory. Inputs and outputs are in the caller's memory, and network outputs are written
/// there directly. Trained values of a trainer (storage::trained) are where its parameters are, behind the inputs.
template <int S, int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                     concat_views<V> const& views, channel_layouts<V> const& layouts,
                                     convolution_list<S> const& convolutions = {},
                                     split_list<S> const& splits = split_list<S>{}, storage where = storage::own) {
  memory_plan<V> m;
  array_of<int, V> first{}, last{}, output{}, written_by{};
  for (int v = 0; v < V; ++v) first[v] = last[v] = output[v] = written_by[v] = -1;
  for (int o = g.output_count - 1; o >= 0; --o)
    if (g.nodes[g.outputs[o]].kind != op::input && g.nodes[g.outputs[o]].kind != op::constant) output[g.outputs[o]] = o;
  for (int k = 0; k < steps.count; ++k) {
    step_nodes const& s = steps.step[k];
    int const i = groups.group_of[k];
    auto const read = [&](int v) {
      if (v < 0) return;
      if (!layouts.is_view[v]) last[root_of(views, v)] = i;
      for (int r = 0; r < layouts.runs[v].count && layouts.is_view[v]; ++r)
        last[root_of(views, layouts.runs[v].run[r].value)] = i;
    };
    written_by[s.result] = s.is_whole() && s.piece_at == 0 ? k : -1;
    int const written = root_of(views, s.result);
    if (s.copy_to_output < 0) {
      if (first[written] < 0) first[written] = i;
      if (last[written] < i) last[written] = i;
    }
    read(s.source);
    for (int const v : s.inputs) read(v);
    for (int j = 0; j < s.stage_count; ++j) read(s.others[j]);
  }
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (first[v] < 0 || output[v] >= 0) continue;
    int const writer = written_by[v];
    long const floats = floats_kept(groups, writer, g.nodes[v].out);
    int const copies = writer >= 0 && groups.ring[writer] > 0 ? splits.of[groups.group_of[writer]].pieces : 1;
    long const apart = (floats + 15) / 16 * 16;
    m.buffers[m.buffer_count++] = {v, first[v], last[v], 0, copies * apart, false, copies, apart};
  }
  for (int k = 0; k < steps.count; ++k)
    if (long const floats = convolutions.step[k].scratch_floats; floats > 0) {
      int const group = groups.group_of[k], copies = splits.of[group].pieces;
      long const apart = (floats + 15) / 16 * 16;
      m.buffers[m.buffer_count++] = {steps.step[k].main, group, group, 0, copies * apart, true, copies, apart};
    }
  array_of<int, S> phase{};
  bool divides = false;
  for (int k = 0; k < groups.count; ++k) divides = divides || splits.of[k].pieces > 1;
  for (int k = 1; k < groups.count; ++k) phase[k] = phase[k - 1] + (splits.waits_for[k] == waits::all);
  buffer_placer<2 * V> place(m.buffers, m.buffer_count, phase);
  if (divides) {
    place.place_halves_together();
    place.spread_copies(place.arena_floats());
  } else {
    place.place_first_fit();
  }
  m.arena_floats = place.arena_floats();

  for (int b = 0; b < m.buffer_count; ++b) {
    int const v = m.buffers[b].value;
    if (m.buffers[b].scratch) {
      m.scratch[v] = m.buffers[b].offset;
      continue;
    }
    m.at[v] = {place::area::arena, 0, int(m.buffers[b].offset), g.nodes[v].out.c};
    int const k = written_by[v];
    if (k >= 0) m.at[v].ring = groups.ring[k];
    if (k >= 0 && groups.chunk[k] > 0) m.at[v].pixel_stride = groups.chunk[k];
  }
  for (int v = 0; v < g.node_count; ++v) {
    if (v < g.input_count) m.at[v] = {place::area::input, std::uint16_t(v), 0, g.nodes[v].out.c};
    if (output[v] >= 0) m.at[v] = {place::area::output, std::uint16_t(output[v]), 0, g.nodes[v].out.c};
    if (g.nodes[v].kind != op::constant) continue;
    if (where == storage::trained) {
      m.at[v] = {place::area::input, std::uint16_t(g.input_count), g.nodes[v].weight, g.nodes[v].out.c};
    } else {
      m.at[v] = {place::area::weights, 0, int(m.constant_floats), g.nodes[v].out.c};
      m.constant_floats += (g.nodes[v].out.count() + 15) / 16 * 16;
    }
  }
  place_views(m, g, views, layouts);
  return m;
}
template <int S, int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                     concat_views<V> const& views) {
  return plan_memory(g, steps, groups, views, channel_layouts_of(g));
}

}  // namespace ago::plan
