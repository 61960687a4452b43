// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the channels of a value are in memory: slices, shuffles and concatenations of channels cost nothing if their
// readers can read them in place.
#pragma once

#include <ago/passes/value_uses.hpp>
#include <ago/plan/step.hpp>

namespace ago::plan {

/// A segment of the described value, in the memory of `value`, from its channel `first` on.
struct channel_run : channel_segment {
  int value = 0, first = 0;
  bool operator==(channel_run const&) const = default;
};

/// Most segments of a view; a value with more is gathered.
inline constexpr int max_runs = 16;

/// The segments of one value.
struct run_list {
  channel_run run[max_runs]{};
  int count = 0;
  bool too_many = false;

  /// Appends `r`, or extends the last segment if `r` continues it.
  constexpr void push(channel_run const& r) {
    if (count > 0) {
      channel_run& last = run[count - 1];
      int const step = last.count > 1 ? last.step : r.count > 1 ? r.step : r.start - last.start;
      bool const same_step = step > 0 && (r.count == 1 || r.step == step);
      bool const side_by_side = last.value == r.value && last.first + last.count == r.first;
      if (side_by_side && same_step && last.start + last.count * step == r.start) {
        last.count += r.count;
        last.step = step;
        return;
      }
    }
    if (count == max_runs) too_many = true;
    else run[count++] = r;
  }
  /// Are all `channels` contiguous and in order?
  constexpr bool is_plain(int channels) const {
    return count == 1 && run[0].count == channels && run[0].start == 0 && (run[0].step == 1 || channels == 1);
  }
};

/// For every value: whether it has memory of its own, and where its channels are. Values without memory of their own
/// are read in the memory of others, through `runs`. Values with memory may hold their channels in another order
/// (depthwise results of values of several segments); slices, shuffles and concatenations with memory are gathered from
/// `runs`.
template <int V>
struct channel_layouts {
  array_of<run_list, V> runs{};
  array_of<bool, V> is_view{};   ///< has no memory of its own
  array_of<bool, V> gathered{};  ///< has memory, filled by copies of `runs`
  array_of<bool, V> pieces{};    ///< a depthwise or elementwise operator that is computed segment by segment

  /// The segments in which readers of v find its channels.
  constexpr run_list where(int v, int channels) const {
    if (!gathered[v] && runs[v].count > 0) return runs[v];
    run_list own;
    own.push({{channels, 0, 1}, v, 0});
    return own;
  }
};

constexpr bool moves_channels(node const& n) {
  return (n.kind == op::slice && n.axis == 3 && n.step == 1) || n.kind == op::channel_shuffle ||
         (n.kind == op::concat && n.axis == 3);
}

/// Appends channels begin ... begin + count - 1 of the value described by `from`, as channels from `at` on.
constexpr void append_slice(run_list& to, run_list const& from, int begin, int count, int at) {
  for (int i = 0; i < from.count; ++i) {
    channel_run r = from.run[i];
    int skip = begin > r.start ? (begin - r.start + r.step - 1) / r.step : 0;
    if (skip > r.count) skip = r.count;
    r.first += skip, r.start += skip * r.step, r.count -= skip;
    int const room = begin + count - r.start, fits = room > 0 ? (room + r.step - 1) / r.step : 0;
    if (fits < r.count) r.count = fits;
    r.start += at - begin;
    if (r.count > 0) to.push(r);
  }
  to.too_many = to.too_many || from.too_many;
}

/// Channel b of group a becomes channel b * groups + a.
constexpr run_list shuffled(run_list const& from, int groups, int channels) {
  run_list r;
  int const size = channels / groups;
  for (int a = 0; a < groups; ++a) {
    run_list group;
    append_slice(group, from, a * size, size, 0);
    for (int i = 0; i < group.count; ++i) {
      channel_run const& b = group.run[i];
      r.push({{b.count, b.start * groups + a, b.step * groups}, b.value, b.first});
    }
    r.too_many = r.too_many || group.too_many;
  }
  return r;
}

template <int V, int E, int O>
constexpr run_list composed(graph<V, E, O> const& g, channel_layouts<V> const& l, int v) {
  node const& n = g.nodes[v];
  auto const operand = [&](int k) { return l.where(g.operand(v, k), g.source(v, k).out.c); };
  run_list r;
  if (n.kind == op::slice) {
    append_slice(r, operand(0), n.begin, n.out.c, 0);
  } else if (n.kind == op::concat) {
    for (int k = 0, at = 0; k < n.input_count; at += g.source(v, k).out.c, ++k)
      append_slice(r, operand(k), 0, g.source(v, k).out.c, at);
  } else {
    r = shuffled(operand(0), n.groups, n.out.c);
  }
  return r;
}

/// Does the result of v pass only through elementwise operators into a matrix product, which can read its channels in
/// any order?
template <int V, int E, int O>
constexpr bool ends_in_product(graph<V, E, O> const& g, value_uses<V> const& uses, int v) {
  for (int r = uses.only_reader(v); r >= 0; r = uses.only_reader(r)) {
    if (is_matrix_product(g.nodes[r].kind)) return true;
    if (!is_unary(g.nodes[r].kind) || g.nodes[r].kind == op::positions) return false;
  }
  return false;
}

/// Can operator r read its operand number k in the segments `runs`?
template <int V, int E, int O>
constexpr bool reads_runs(graph<V, E, O> const& g, value_uses<V> const& uses, int r, int k, run_list const& runs) {
  node const& n = g.nodes[r];
  shape const& in = g.source(r, k).out;
  if (n.kind == op::channel_shuffle) return runs.is_plain(in.c) || !shuffled(runs, n.groups, in.c).too_many;
  if (moves_channels(n)) return true;
  if (runs.is_plain(in.c))  // pixels may have gaps between them, but not where one pixel serves all
    return n.kind != op::reshape && n.kind != op::from_nchw && !is_expression(n.kind) &&
           !(is_binary(n.kind) && !(in == n.out));
  return is_matrix_product(n.kind) || (n.kind == op::depthwise && ends_in_product(g, uses, r));
}

/// Visits each value once, after its operands. A slice, shuffle or concatenation of channels becomes a view if all its
/// readers can read it; a concatenation whose operands can be written side by side is not a view if nothing takes it
/// apart again.
template <int V, int E, int O>
constexpr channel_layouts<V> channel_layouts_of(graph<V, E, O> const& g) {
  channel_layouts<V> l;
  value_uses<V> const uses(g);
  reading_edges<V, E> const edges(g);
  for (int v = g.input_count; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    if (!moves_channels(n)) {
      if (n.input_count == 0 || (n.kind != op::depthwise && !is_unary(n.kind))) continue;
      run_list const from = l.where(g.operand(v), g.source(v).out.c);
      if (from.is_plain(g.source(v).out.c)) continue;
      l.pieces[v] = true;
      int at = 0;
      for (int i = 0; i < from.count; at += from.run[i++].count)
        l.runs[v].push({{from.run[i].count, from.run[i].start, from.run[i].step}, v, at});
      continue;
    }
    l.runs[v] = composed(g, l, v);
    bool view = !l.runs[v].too_many && !uses.is_output[v], apart = n.kind != op::concat;
    for (int k = 0; k < n.input_count; ++k) apart = apart || l.is_view[g.operand(v, k)];
    for (int e = edges.first[v]; e >= 0 && view; e = edges.next[e]) {
      node const& reader = g.nodes[edges.reader[e]];
      view = reads_runs(g, uses, edges.reader[e], e - reader.input_first, l.runs[v]);
      apart = apart || (moves_channels(reader) && reader.kind != op::concat);
    }
    l.is_view[v] = view && apart;
    l.gathered[v] = !l.is_view[v];
  }
  return l;
}

}  // namespace ago::plan
