// The stages from steps to a plan, for what is planned at run time.
#pragma once

#include <ago/plan/plan.hpp>

namespace ago {

/// Each is decided on those before it, of a graph with room for V nodes that forms up to S steps; N is the room for
/// steps in the plan, and `Runs` for pieces of their inputs. Large. ago::program has each stage as a constant of its
/// own instead: compilers limit the evaluation of every constant, and all stages of a thousand operators together
/// exceed that. (tests/tune/live_program.cpp and tests/tools/program.cpp compare the two.)
template <int V, int S, int N, int Runs>
struct plan_stages {
  fusion_list<S> groups;
  convolution_list<S> convolutions;
  memory_plan<V> memory;
  input_run_table<Runs, N> runs;
  ago::plan<N> plan;

  template <int E, int O>
  plan_stages(graph<V, E, O> const& g, partitions<V> const& partition, channel_layouts<V> const& layouts,
              concat_views<V> const& views, step_list<S> const& parts, options const& o, auto const& schedules)
      : groups(fuse_steps(g, parts, partition, o, schedules)),
        convolutions(convolution_steps(g, parts, groups, o, schedules)),
        memory(plan_memory(g, parts, groups, views, layouts, convolutions)),
        runs(input_runs_of<Runs, N>(g, parts, layouts, memory)),
        plan(make_plan<N>(g, parts, groups, memory, schedules, o, convolutions, runs)) {}
};

}  // namespace ago
