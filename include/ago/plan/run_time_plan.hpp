// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan that is made at run time, by the functions that plan at compile time.
#pragma once

#include <ago/plan/divide_steps.hpp>
#include <ago/plan/one_pass.hpp>
#include <ago/plan/step_table.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace ago::plan {

/// A list for tables that are made at run time.
template <class T, int>
using growing_list = std::vector<T>;

/// The stages from steps to a plan, each of which depends on those before it. The capacities: V nodes of the graph, S
/// steps, N steps of the plan, and `Runs` segments of their inputs. In ago::program each stage is a separate constant
/// instead, because compilers limit the evaluation of every constant, and all stages of a thousand operators together
/// exceed the limit. (tests/tuner/live_program.cpp and tests/tools/program.cpp compare the two.) It is large, and its
/// steps point into it, so it cannot be copied or moved.
template <int V, int S, int N, int Runs>
class run_time_plan {
 public:
  fusion_list<S> groups;
  convolution_list<S> convolutions;
  split_list<S> splits;  ///< of one core: pairs that one pass computes
  memory_plan<V> memory;
  input_run_table<Runs, N> runs;
  ago::plan::execution_plan<N> plan;
  int part_count;

  template <int E, int O>
  run_time_plan(graph<V, E, O> const& g, partitions<V> const& partition, channel_layouts<V> const& layouts,
                concat_views<V> const& views, step_list<S> const& parts, options const& o, auto const& schedules)
      : run_time_plan(
            g, partition, layouts, views, parts, o, schedules,
            o.device.threads == 1 ? split_list<S>{} : splits_of(g, partition, layouts, views, parts, o, schedules)) {}
  run_time_plan(run_time_plan const&) = delete;
  run_time_plan& operator=(run_time_plan const&) = delete;

  /// Number of steps, each of one part or several.
  int steps() const { return groups.count; }
  /// The parts of a step: part(first_part(i)) ... part(first_part(i + 1) - 1).
  int first_part(int step) const { return step < steps() ? groups.first[step] : part_count; }
  planned_step const& part(int i) const { return plan.steps[i]; }
  chain_tiling tiling_of(int step) const { return groups.tiles[step]; }
  step_split split_of(int step) const { return splits.of[step]; }
  waits waits_of(int step) const { return splits.waits_for[step]; }
  fused_key key(int step) const { return key_of(groups, plan, step); }
  /// Does one pass compute this step and the next one?
  bool leads(int step) const {
    return on_one_core_ && step >= 0 && step + 1 < steps() && waits_of(step + 1) == waits::nothing;
  }
  kernel::one_pass_key pass_key(int step) const { return kernel::one_pass_key_of(key(step), key(step + 1)); }
  step_table<step_table_size{}, growing_list> table() const { return {groups, splits, memory, plan, runs}; }

  std::size_t packed_floats() const { return std::size_t(plan.packed_floats); }
  std::size_t arena_floats() const { return std::size_t(memory.arena_floats); }
  /// Where the arena begins if it follows the packed weights, with the same alignment.
  std::size_t arena_start() const { return (packed_floats() + 15) / 16 * 16; }
  /// Floats of part i's packed weights, which start at part(i).data.weights.
  long packed_floats_of(int i) const {
    long const next = i + 1 < part_count ? part(i + 1).data.weights : plan.packed_floats;
    return next - part(i).data.weights;
  }

  /// Do both run the same kernels on the same tiles? Different schedules may lead to the same plan.
  bool same_as(run_time_plan const& other) const {
    if (steps() != other.steps() || packed_floats() != other.packed_floats() || arena_floats() != other.arena_floats())
      return false;
    for (int k = 0; k < steps(); ++k)
      if (first_part(k) != other.first_part(k) || !(tiling_of(k) == other.tiling_of(k)) ||
          !(split_of(k) == other.split_of(k)))
        return false;
    for (int i = 0; i < part_count; ++i) {
      planned_step const &a = part(i), &b = other.part(i);
      if (!(a.key == b.key) || a.data.block != b.data.block) return false;
    }
    return true;
  }
  /// Do part i's packed weights have the same layout in both?
  bool packs_alike(run_time_plan const& other, int i) const {
    kernel_key const &a = part(i).key, &b = other.part(i).key;
    return a.what == b.what && a.target == b.target && a.paired == b.paired && a.tile.vectors == b.tile.vectors &&
           a.after == b.after && packed_floats_of(i) == other.packed_floats_of(i);
  }

 private:
  template <int E, int O>
  run_time_plan(graph<V, E, O> const& g, partitions<V> const& partition, channel_layouts<V> const& layouts,
                concat_views<V> const& views, step_list<S> const& parts, options const& o, auto const& schedules,
                split_list<S> const& cut)
      : groups(fuse_steps(g, parts, partition, o, schedules)),
        convolutions(convolution_steps(g, parts, groups, layouts, o, schedules)),
        splits(o.device.threads > 1 ? cut : joined(find_one_pass(g, parts, groups, views, layouts, convolutions, o))),
        memory(plan_memory(g, parts, groups, views, layouts, convolutions, splits, o.storage)),
        runs(input_runs_of<Runs, N>(g, parts, layouts, memory)),
        plan(make_plan<N>(g, parts, groups, memory, schedules, o, convolutions, runs)), part_count(parts.count),
        on_one_core_(o.device.threads == 1) {
    for (int i = 0; i < part_count; ++i)
      if (runs.count[i] > 0) plan.steps[i].data.runs = runs.run + runs.first[i];
  }

  split_list<S> const& joined(one_pass_list<S> const& found) {
    convolutions = found.convolutions;
    return found.splits;
  }
  /// Decides by the plan of undivided steps.
  static split_list<S> splits_of(auto const& g, auto const& partition, auto const& layouts, auto const& views,
                                 auto const& parts, options const& o, auto const& schedules) {
    std::unique_ptr<run_time_plan const> const uncut(
        new run_time_plan(g, partition, layouts, views, parts, o, schedules, split_list<S>{}));
    return divide_steps(g, parts, uncut->groups, views, layouts, uncut->memory, uncut->plan, o.device, schedules);
  }

  bool on_one_core_;
};

}  // namespace ago::plan
