// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static memory: every value that crosses a step boundary is placed before the program runs.
#pragma once

#include <ago/plan/convolution_schedule.hpp>
#include <ago/plan/fusion.hpp>
#include <ago/plan/in_place.hpp>
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

/// Floats of the part of a value that exists at a time. `step` writes the value; -1: several steps do.
template <int Capacity>
constexpr long floats_kept(fusion_list<Capacity> const& groups, int step, shape const& s) {
  if (step < 0 || groups.ring[step] == 0) return s.count();
  bool const runs = groups.tiles[groups.group_of[step]].how == tiling::pixels;
  return long(groups.ring[step]) * (runs ? 1 : s.w) * (groups.chunk[step] > 0 ? groups.chunk[step] : s.c);
}

/// When values are in memory, in groups of steps, and where the others are; -1: never, none.
template <int V>
struct value_times {
  array_of<int, V> first{}, last{};  ///< of a concatenation also those of the values written into it
  array_of<int, V> output{};         ///< the network output that it is
  array_of<int, V> written_by{};     ///< the step that writes all of it

  template <int S, int E, int O>
  constexpr value_times(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                        concat_views<V> const& views, channel_layouts<V> const& layouts) {
    for (int v = 0; v < V; ++v) first[v] = last[v] = output[v] = written_by[v] = -1;
    for (int o = g.output_count - 1; o >= 0; --o)
      if (int const v = g.outputs[o]; g.nodes[v].kind != op::input && g.nodes[v].kind != op::constant) output[v] = o;
    for (int k = 0; k < steps.count; ++k) {
      step_nodes const& s = steps.step[k];
      int const i = groups.group_of[k], written = root_of(views, s.result);
      written_by[s.result] = s.is_whole() && s.piece_at == 0 ? k : -1;
      if (s.copy_to_output < 0) {
        if (first[written] < 0) first[written] = i;
        if (last[written] < i) last[written] = i;
      }
      for_each_read(s, [&](int v, int) { for_each_owner(v, views, layouts, [&](int u) { last[u] = i; }); });
    }
  }
};

/// The buffers of steps that are divided by `splits`: those of values, and the kernels' scratch.
template <int S, int V, int E, int O>
class buffer_list {
 public:
  constexpr buffer_list(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                        concat_views<V> const& views, channel_layouts<V> const& layouts, split_list<S> const& splits,
                        value_times<V> const& times)
      : g_(g), steps_(steps), groups_(groups), views_(views), layouts_(layouts), splits_(splits), times_(times) {}

  /// Places them, and the values in them.
  constexpr void place(memory_plan<V>& m, convolution_list<S> const& convolutions) {
    for (int v = g_.input_count; v < g_.node_count; ++v) add(m, v);
    for (int k = 0; k < steps_.count; ++k)
      if (long const floats = convolutions.step[k].scratch_floats; floats > 0) {
        int const group = groups_.group_of[k];
        m.buffers[m.buffer_count++] = copies_of({steps_.step[k].main, group, group, 0, 0, true}, floats, group);
      }
    place_first_ones(m);
    for (int i = 0; i < over_count_; ++i) {
      buffer& b = over_[i];
      b.offset = m.buffers[b.over].offset;
      m.buffers[m.buffer_count++] = b;
    }
    for (int b = 0; b < m.buffer_count; ++b) {
      buffer& x = m.buffers[b];
      int const v = x.value;
      if (x.scratch) {
        m.scratch[v] = x.offset;
        continue;
      }
      x.last = times_.last[v];
      m.at[v] = {place::area::arena, 0, int(x.offset), g_.nodes[v].out.c};
      int const k = times_.written_by[v];
      if (k >= 0) m.at[v].ring = groups_.ring[k];
      if (k >= 0 && groups_.chunk[k] > 0) m.at[v].pixel_stride = groups_.chunk[k];
    }
  }

 private:
  constexpr void add(memory_plan<V>& m, int v) {
    if (times_.first[v] < 0 || times_.output[v] >= 0) return;
    int const writer = times_.written_by[v];
    if (writer >= 0 && groups_.ring[writer] == groups_.none) return;
    buffer b{v, times_.first[v], times_.last[v]};
    b = copies_of(b, floats_kept(groups_, writer, g_.nodes[v].out),
                  writer >= 0 && groups_.ring[writer] > 0 ? groups_.group_of[writer] : -1);
    int const u = overwritten(v);
    b.over = u < 0 ? -1 : buffer_of_[u];
    buffer_of_[v] = u < 0 ? m.buffer_count : b.over;
    if (u < 0) {
      m.buffers[m.buffer_count++] = b;
    } else {
      m.buffers[b.over].last = b.last;
      over_[over_count_++] = b;
    }
  }
  /// A buffer of so many floats, once for each work item of a group; -1: once.
  constexpr buffer copies_of(buffer b, long floats, int group) const {
    b.copies = group >= 0 ? splits_.of[group].pieces : 1;
    b.apart = (floats + 15) / 16 * 16;
    b.floats = b.copies * b.apart;
    return b;
  }
  /// The value whose memory v takes; -1: none. Work items of steps that share a barrier may read what others wrote.
  constexpr int overwritten(int v) const {
    int const k = times_.written_by[v], group = k < 0 ? -1 : groups_.group_of[k];
    if (k < 0 || groups_.parts[group] > 1 || times_.first[v] != group || splits_.waits_for[group] != waits::all)
      return -1;
    return overwritten_by(g_, steps_.step[k], views_, layouts_, [&](int u) {
      bool const is_kept = times_.first[u] >= 0 && times_.output[u] < 0 && times_.written_by[u] >= 0;
      return is_kept && times_.last[u] == group && groups_.ring[times_.written_by[u]] == 0 ? times_.first[u] : -1;
    });
  }

  /// Greedily by size; with several threads, also by the lines that cores would exchange. Those that share a barrier
  /// do not share memory.
  constexpr void place_first_ones(memory_plan<V>& m) const {
    array_of<int, S> phase{};
    bool divides = false;
    for (int k = 0; k < groups_.count; ++k) divides = divides || splits_.of[k].pieces > 1;
    for (int k = 1; k < groups_.count; ++k) phase[k] = phase[k - 1] + (splits_.waits_for[k] == waits::all);
    buffer_placer<2 * V> placer(m.buffers, m.buffer_count, phase);
    if (divides) {
      placer.place_halves_together();
      placer.spread_copies(placer.arena_floats());
    } else {
      placer.place_first_fit();
    }
    m.arena_floats = placer.arena_floats();
  }

  graph<V, E, O> const& g_;
  step_list<S> const& steps_;
  fusion_list<S> const& groups_;
  concat_views<V> const& views_;
  channel_layouts<V> const& layouts_;
  split_list<S> const& splits_;
  value_times<V> const& times_;
  array_of<int, V> buffer_of_{};  ///< of values: the one that is placed
  array_of<buffer, V> over_{};    ///< buffers in the memory of others
  int over_count_ = 0;
};

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

/// Steps that `splits` divides need the buffers between their parts and their scratch once for each work item. Inputs
/// and outputs are in the caller's memory, and network outputs are written there directly. Trained values of a trainer
/// (storage::trained) are where its parameters are, behind the inputs.
template <int S, int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                     concat_views<V> const& views, channel_layouts<V> const& layouts,
                                     convolution_list<S> const& convolutions = {},
                                     split_list<S> const& splits = split_list<S>{}, storage where = storage::own) {
  memory_plan<V> m;
  value_times<V> const times(g, steps, groups, views, layouts);
  buffer_list(g, steps, groups, views, layouts, splits, times).place(m, convolutions);
  for (int v = 0; v < g.node_count; ++v) {
    if (v < g.input_count) m.at[v] = {place::area::input, std::uint16_t(v), 0, g.nodes[v].out.c};
    if (times.output[v] >= 0) m.at[v] = {place::area::output, std::uint16_t(times.output[v]), 0, g.nodes[v].out.c};
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
