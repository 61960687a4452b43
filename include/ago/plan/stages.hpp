// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages from steps to a plan, for runtime programs.
#pragma once

#include <ago/plan/divide_steps.hpp>

#include <memory>

namespace ago::plan {

/// Each stage depends on those before it. The capacities: V nodes of the graph, S steps, N steps of the plan, and
/// `Runs` segments of their inputs. The object is large. In ago::program each stage is a separate constant
/// instead, because compilers limit the evaluation of every constant, and all stages of a thousand operators together
/// exceed the limit. (tests/tuner/live_program.cpp and tests/tools/program.cpp compare the two.)
template <int V, int S, int N, int Runs>
struct plan_stages {
  fusion_list<S> groups;
  convolution_list<S> convolutions;
  split_list<S> splits;
  memory_plan<V> memory;
  input_run_table<Runs, N> runs;
  ago::plan::execution_plan<N> plan;

  template <int E, int O>
  plan_stages(graph<V, E, O> const& g, partitions<V> const& partition, channel_layouts<V> const& layouts,
              concat_views<V> const& views, step_list<S> const& parts, options const& o, auto const& schedules)
      : plan_stages(
            g, partition, layouts, views, parts, o, schedules,
            o.device.threads == 1 ? split_list<S>{} : splits_of(g, partition, layouts, views, parts, o, schedules)) {}

 private:
  template <int E, int O>
  plan_stages(graph<V, E, O> const& g, partitions<V> const& partition, channel_layouts<V> const& layouts,
              concat_views<V> const& views, step_list<S> const& parts, options const& o, auto const& schedules,
              split_list<S> const& cut)
      : groups(fuse_steps(g, parts, partition, o, schedules)),
        convolutions(convolution_steps(g, parts, groups, layouts, o, schedules)), splits(cut),
        memory(plan_memory(g, parts, groups, views, layouts, convolutions, splits, o.storage)),
        runs(input_runs_of<Runs, N>(g, parts, layouts, memory)),
        plan(make_plan<N>(g, parts, groups, memory, schedules, o, convolutions, runs)) {}

  /// Decides by the plan of undivided steps.
  static split_list<S> splits_of(auto const& g, auto const& partition, auto const& layouts, auto const& views,
                                 auto const& parts, options const& o, auto const& schedules) {
    std::unique_ptr<plan_stages const> const uncut(
        new plan_stages(g, partition, layouts, views, parts, o, schedules, split_list<S>{}));
    return divide_steps(g, parts, uncut->groups, views, layouts, uncut->memory, uncut->plan, o.device, schedules);
  }
};

}  // namespace ago::plan
