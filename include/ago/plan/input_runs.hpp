// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The segments of matrix products' inputs that are not contiguous, or not in order.
#pragma once

#include <ago/plan/memory.hpp>

namespace ago::plan {

/// For each of `Steps` steps the segments of its input; `Runs` in total.
template <int Runs, int Steps>
struct input_run_table {
  array_of<input_run, Runs> run{};
  array_of<int, Steps> first{}, count{};  ///< count 0: contiguous and in order
  array_of<int, Steps> odd{};             ///< segments with an odd number of channels
  array_of<bool, Steps> scattered{};      ///< not contiguous
};

/// The segments of the input of step `s`, if it is a matrix product; none if all channels are contiguous and in order.
template <int V, int E, int O>
constexpr run_list input_of(graph<V, E, O> const& g, step_nodes const& s, channel_layouts<V> const& layouts) {
  if (s.main < 0 || !is_matrix_product(g.nodes[s.main].kind)) return {};
  run_list const runs = layouts.where(s.source, g.nodes[s.source].out.c);
  return runs.is_plain(g.nodes[s.source].out.c) ? run_list{} : runs;
}

/// Floats of the cache lines in which `count` segments of a pixel are, wherever in a line it begins: a segment that
/// does not follow another one shares its lines with other channels.
constexpr int floats_in_lines(input_run const* runs, int count) {
  constexpr int line = 16;
  int sum = 0;
  for (int r = 0; r < count; ++r) {
    int gap = line - 1;
    for (int q = 0; q < count; ++q) {
      place const &a = runs[r].at, &b = runs[q].at;
      int const after = a.offset - b.offset - runs[q].count;
      bool const same = a.in == b.in && a.index == b.index && a.pixel_stride == b.pixel_stride;
      if (same && after >= 0 && after < gap) gap = after;
    }
    sum += runs[r].count + gap;
  }
  return sum;
}

template <int S, int V, int E, int O>
constexpr int count_input_runs(graph<V, E, O> const& g, step_list<S> const& steps, channel_layouts<V> const& layouts) {
  int sum = 0;
  for (int i = 0; i < steps.count; ++i) sum += input_of(g, steps.step[i], layouts).count;
  return sum;
}

template <int Runs, int Steps, int S, int V, int E, int O>
constexpr input_run_table<Runs, Steps> input_runs_of(graph<V, E, O> const& g, step_list<S> const& steps,
                                                     channel_layouts<V> const& layouts, memory_plan<V> const& m) {
  input_run_table<Runs, Steps> r;
  int used = 0;
  for (int i = 0; i < steps.count; ++i) {
    run_list const runs = input_of(g, steps.step[i], layouts);
    r.first[i] = used;
    r.count[i] = runs.count;
    for (int k = 0; k < runs.count; ++k) {
      channel_run const& from = runs.run[k];
      place at = m.at[from.value];
      at.offset += from.first;
      r.run[used++] = {from, at};
      r.odd[i] += from.count % 2;
      if (k > 0) {
        channel_run const& before = runs.run[k - 1];
        r.scattered[i] = r.scattered[i] || from.value != before.value || from.first != before.first + before.count;
      }
    }
  }
  return r;
}

}  // namespace ago::plan
