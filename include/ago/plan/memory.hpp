// Static memory: every value that crosses a step boundary gets its place before the program runs.
#pragma once

#include <ago/plan/fusion.hpp>

namespace ago {

/// A stretch of the arena that is in use from group `first` of the steps to group `last`, inclusive.
struct buffer {
  int value{};  ///< node whose value it holds; for a concat also the values written into it
  int first{}, last{};
  long offset{}, floats{};
};

/// Places of all values. Sizes and offsets are in floats, offsets multiples of 16 (64 bytes).
template <int V>
struct memory_plan {
  place at[V]{};
  buffer buffers[V]{};
  int buffer_count = 0;
  long arena_floats = 0;
};

namespace detail {

/// Puts buffers at the first gap that fits, largest first, among those alive at the same time.
template <int V>
constexpr void place_buffers(memory_plan<V>& m) {
  int by_size[V]{}, placed[V]{}, placed_count = 0;
  for (int b = 0; b < m.buffer_count; ++b) {
    int k = b;
    for (; k > 0 && m.buffers[by_size[k - 1]].floats < m.buffers[b].floats; --k) by_size[k] = by_size[k - 1];
    by_size[k] = b;
  }
  for (int k = 0; k < m.buffer_count; ++k) {
    buffer& b = m.buffers[by_size[k]];
    long at = 0;
    for (int j = 0; j < placed_count; ++j) {  // in order of their offsets
      buffer const& other = m.buffers[placed[j]];
      if (other.first > b.last || other.last < b.first) continue;
      if (other.offset - at >= b.floats) break;
      if (other.offset + other.floats > at) at = other.offset + other.floats;
    }
    b.offset = at;
    int j = placed_count++;
    for (; j > 0 && m.buffers[placed[j - 1]].offset > at; --j) placed[j] = placed[j - 1];
    placed[j] = by_size[k];
    if (at + b.floats > m.arena_floats) m.arena_floats = at + b.floats;
  }
}

template <int V>
constexpr int root_of(concat_views<V> const& views, int v) {
  while (views.parent[v] >= 0) v = views.parent[v];
  return v;
}

}  // namespace detail

/// Greedy by size. Inputs and outputs are the caller's memory; values given out are written there directly.
template <int V, int E, int O>
constexpr memory_plan<V> plan_memory(graph<V, E, O> const& g, step_list<V + E + O> const& steps,
                                     fusion_list<V + E + O> const& groups, concat_views<V> const& views) {
  memory_plan<V> m;
  int first[V]{}, last[V]{}, output[V]{}, ring[V]{};
  for (int v = 0; v < V; ++v) first[v] = last[v] = output[v] = -1;
  for (int o = g.output_count - 1; o >= 0; --o)
    if (g.nodes[g.outputs[o]].kind != op::input) output[g.outputs[o]] = o;
  for (int k = 0; k < steps.count; ++k) {
    step_nodes const& s = steps.step[k];
    int const i = groups.group_of[k];
    ring[s.result] = groups.ring[k];
    int const written = detail::root_of(views, s.result);
    if (s.copy_to_output < 0) {
      if (first[written] < 0) first[written] = i;
      if (last[written] < i) last[written] = i;
    }
    last[detail::root_of(views, s.source)] = i;
    for (int j = 0; j < s.stage_count; ++j)
      if (s.others[j] >= 0) last[detail::root_of(views, s.others[j])] = i;
  }
  for (int v = g.input_count; v < g.node_count; ++v) {
    if (first[v] < 0 || output[v] >= 0) continue;
    shape const& s = g.nodes[v].out;
    long const floats = ring[v] > 0 ? long(ring[v]) * s.w * s.c : s.count();
    m.buffers[m.buffer_count++] = {v, first[v], last[v], 0, (floats + 15) / 16 * 16};
  }
  detail::place_buffers(m);

  for (int b = 0; b < m.buffer_count; ++b) {
    int const v = m.buffers[b].value;
    m.at[v] = {place::area::arena, 0, m.buffers[b].offset, g.nodes[v].out.c, ring[v]};
  }
  for (int v = 0; v < g.node_count; ++v) {
    if (v < g.input_count) m.at[v] = {place::area::input, v, 0, g.nodes[v].out.c};
    if (output[v] >= 0) m.at[v] = {place::area::output, output[v], 0, g.nodes[v].out.c};
  }
  for (int v = g.node_count - 1; v >= 0; --v)  // parents come later in the graph: they are placed by now
    if (views.parent[v] >= 0) {
      m.at[v] = m.at[views.parent[v]];
      m.at[v].offset += views.channel[v];
    }
  return m;
}

}  // namespace ago
