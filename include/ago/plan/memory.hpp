// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static memory: every value that crosses a step boundary is placed before the program runs.
#pragma once

#include <ago/plan/fusion.hpp>
#include <ago/plan/convolution_schedule.hpp>
#include <ago/plan/step_split.hpp>

namespace ago {

/// A range of the arena that is in use from group `first` of the steps to group `last`, inclusive.
struct buffer {
  int value{};  ///< node whose value it holds; for a concatenation also the values written into it
  int first{}, last{};
  long offset{}, floats{};
  bool scratch{};  ///< holds no value, but the scratch of the kernel of operator `value`
  int copies = 1;  ///< contiguous copies for work items of the step that run concurrently
};

/// Places of all values. Sizes and offsets are in floats, offsets multiples of 16 (64 bytes).
template <int V>
struct memory_plan {
  place at[V]{};
  long scratch[V]{};  ///< offset of each operator's scratch, if it has one
  buffer buffers[2 * V]{};
  int buffer_count = 0;
  long arena_floats = 0;
  long constant_floats = 0;  ///< trained values, which are stored before the packed weights of all steps
};

namespace detail {

/// Places buffers one after another, the largest first.
template <int V>
class buffer_placer {
 public:
  /// `phase` of each step: the number of barriers before it.
  constexpr buffer_placer(memory_plan<V>& m, int const* phase) : m_(m), phase_(phase) {
    for (int b = 0; b < m.buffer_count; ++b) {
      int k = b;
      for (; k > 0 && m.buffers[by_size_[k - 1]].floats < m.buffers[b].floats; --k) by_size_[k] = by_size_[k - 1];
      by_size_[k] = b;
    }
  }

  /// Places every buffer in the first gap that fits among those alive at the same time.
  constexpr void place_first_fit() {
    for (int k = 0; k < m_.buffer_count; ++k) put(k, first_fit(buffer_of(k)));
  }

  /// Places buffers so that, of two threads that divide the values in them, each finds its half where its half of the
  /// values before was: a line that another core used last costs much more than one in a core's own L2
  /// (device::line_from_core). Tried are places with the middle of a buffer before, and next to the largest ones. The
  /// arena may grow by as much as is saved.
  constexpr void place_halves_together() {
    constexpr int most_middles = 8, largest = 8;  // more gain little, and take compilers longer
    long middle[most_middles]{};
    int middles = 0;
    for (int k = 0; k < m_.buffer_count; ++k) {
      buffer const& b = buffer_of(k);
      long best = first_fit(b), least = exchanged(b, best);
      auto const consider = [&](long at) {
        if (at < 0 || obstacle(b, at) >= 0) return;
        long const here = exchanged(b, at);
        if (here >= least) return;
        least = here;
        best = at;
      };
      auto const around = [&](int i) { return (middle[i] - b.floats / 2) / 16 * 16; };
      for (int i = 0; i < middles; ++i) consider(around(i));
      for (int j = 0; j < k && j < largest; ++j) {
        consider(buffer_of(j).offset + buffer_of(j).floats);
        consider(buffer_of(j).offset - b.floats);
      }
      bool known = false;
      for (int i = 0; i < middles; ++i) known = known || around(i) == best;
      if (!known && middles < most_middles) middle[middles++] = best + b.floats / 2;
      put(k, best);
    }
  }

 private:
  constexpr buffer& buffer_of(int k) const { return m_.buffers[by_size_[k]]; }

  /// The end of the first placed buffer that is in the way of b at `at`; -1: none.
  constexpr long obstacle(buffer const& b, long at) const {
    for (int j = 0; j < placed_count_; ++j) {
      buffer const& other = m_.buffers[placed_[j]];
      if (other.offset - at >= b.floats) break;
      if (phase_[other.first] > phase_[b.last] || phase_[other.last] < phase_[b.first]) continue;
      if (other.offset + other.floats > at) return other.offset + other.floats;
    }
    return -1;
  }
  constexpr long first_fit(buffer const& b) const {
    long at = 0;
    for (long end = 0; (end = obstacle(b, at)) >= 0;) at = end;
    return at;
  }
  /// The floats that would be in the first half of b and in the second half of an earlier or later buffer, or the other
  /// way round, and those by which the arena would grow.
  constexpr long exchanged(buffer const& b, long at) const {
    long const middle = at + b.floats / 2, end = at + b.floats;
    long sum = end > m_.arena_floats ? end - m_.arena_floats : 0;
    for (int j = 0; j < placed_count_; ++j) {
      buffer const& other = m_.buffers[placed_[j]];
      long const other_middle = other.offset + other.floats / 2, other_end = other.offset + other.floats;
      if (other.offset >= end) break;
      if (other_end <= at) continue;
      // What is between the two middles, and in both buffers.
      long const from = least(middle, other_middle), to = most(middle, other_middle);
      long const lower = most(from, most(at, other.offset)), upper = least(to, least(end, other_end));
      if (upper > lower) sum += upper - lower;
    }
    return sum;
  }
  static constexpr long least(long a, long b) { return a < b ? a : b; }
  static constexpr long most(long a, long b) { return a > b ? a : b; }
  constexpr void put(int k, long at) {
    buffer& b = buffer_of(k);
    b.offset = at;
    int j = placed_count_++;
    for (; j > 0 && m_.buffers[placed_[j - 1]].offset > at; --j) placed_[j] = placed_[j - 1];
    placed_[j] = by_size_[k];
    if (at + b.floats > m_.arena_floats) m_.arena_floats = at + b.floats;
  }

  memory_plan<V>& m_;
  int const* phase_;
  int by_size_[2 * V]{}, placed_[2 * V]{}, placed_count_ = 0;  // placed: in the order of their offsets
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

}  // namespace detail

/// Places buffers greedily by size; with several threads, also by the lines that cores would exchange. Steps that
/// `splits` divides need the buffers between their parts and their scratch once for each work item, and steps that
/// share a barrier do not share memory. Inputs and outputs are in the caller's memory, and network outputs are written
/// there directly.
template <int S, int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<S> const& steps,
                                     fusion_list<S> const& groups, concat_views<V> const& views,
                                     channel_layouts<V> const& layouts,
                                     convolution_list<S> const& convolutions = {},
                                     split_list<S> const& splits = split_list<S>{}) {
  memory_plan<V> m;
  int first[V]{}, last[V]{}, output[V]{}, written_by[V]{};
  for (int v = 0; v < V; ++v) first[v] = last[v] = output[v] = written_by[v] = -1;
  for (int o = g.output_count - 1; o >= 0; --o)
    if (g.nodes[g.outputs[o]].kind != op::input && g.nodes[g.outputs[o]].kind != op::constant) output[g.outputs[o]] = o;
  for (int k = 0; k < steps.count; ++k) {
    step_nodes const& s = steps.step[k];
    int const i = groups.group_of[k];
    auto const read = [&](int v) {
      if (v < 0) return;
      if (!layouts.is_view[v]) last[detail::root_of(views, v)] = i;
      for (int r = 0; r < layouts.runs[v].count && layouts.is_view[v]; ++r)
        last[detail::root_of(views, layouts.runs[v].run[r].value)] = i;
    };
    written_by[s.result] = s.is_whole() && s.piece_at == 0 ? k : -1;
    int const written = detail::root_of(views, s.result);
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
    long const floats = detail::floats_kept(groups, writer, g.nodes[v].out);
    int const copies = writer >= 0 && groups.ring[writer] > 0 ? splits.of[groups.group_of[writer]].pieces : 1;
    m.buffers[m.buffer_count++] = {v, first[v], last[v], 0, copies * ((floats + 15) / 16 * 16), false, copies};
  }
  for (int k = 0; k < steps.count; ++k)
    if (long const floats = convolutions.step[k].scratch_floats; floats > 0) {
      int const group = groups.group_of[k], copies = splits.of[group].pieces;
      m.buffers[m.buffer_count++] = {steps.step[k].main, group, group, 0, copies * ((floats + 15) / 16 * 16), true,
                                     copies};
    }
  int phase[S]{};
  bool divides = false;
  for (int k = 0; k < groups.count; ++k) divides = divides || splits.of[k].pieces > 1;
  for (int k = 1; k < groups.count; ++k) phase[k] = phase[k - 1] + (splits.waits_for[k] == waits::all);
  detail::buffer_placer<V> place(m, phase);
  if (divides) place.place_halves_together();
  else place.place_first_fit();

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
    m.at[v] = {place::area::weights, 0, int(m.constant_floats), g.nodes[v].out.c};
    m.constant_floats += (g.nodes[v].out.count() + 15) / 16 * 16;
  }
  detail::place_views(m, g, views, layouts);
  return m;
}
template <int S, int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<S> const& steps,
                                     fusion_list<S> const& groups, concat_views<V> const& views) {
  return plan_memory(g, steps, groups, views, channel_layouts_of(g));
}

}  // namespace ago
