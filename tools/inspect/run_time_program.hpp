// The stages of ago::program on a graph that is not known before the program runs.
#pragma once

#include <ago/partition/policy.hpp>
#include <ago/plan/plan.hpp>

#include <memory>
#include <stdexcept>
#include <string>

namespace ago::tools {

/// The arrays are as large as the graph's capacities; on the heap, as stacks are not made for them. Throws
/// std::length_error if the network takes more steps than there is room for.
template <int V, int E, int O>
class run_time_program {
  static constexpr int room = 4 * V + E + O;  ///< for steps: an operator takes several if its operands are in pieces
  static constexpr int room_for_runs = 2 * room;

  /// The result of `stage`, made where it stays.
  template <class Stage>
  static auto on_heap(Stage const& stage) {
    return std::unique_ptr<decltype(stage()) const>(new auto(stage()));
  }
  static void check(int count, int capacity, char const* what) {
    if (count > capacity)
      throw std::length_error("this network needs room for " + std::to_string(count) + " " + what + ", and there is " +
                              "room for " + std::to_string(capacity));
  }

  options const o_;

  template <class T>
  using owned = std::unique_ptr<T const>;

 public:
  owned<partitions<V>> const partition;

 private:
  owned<channel_layouts<V>> const layouts_;
  owned<concat_views<V>> const views_;

 public:
  owned<step_list<room>> const parts;
  owned<fusion_list<room>> const groups;

 private:
  owned<convolution_list<room>> const convolutions_;

 public:
  owned<memory_plan<V>> const memory;

 private:
  owned<input_run_table<room_for_runs, room>> const runs_;

 public:
  owned<ago::plan<room>> const plan;

  explicit run_time_program(graph<V, E, O> const& g, options const& o = {})
      : o_(o),
        partition(on_heap([&] { return partition_by(o.policy, g, o.device); })),
        layouts_(on_heap([&] { return channel_layouts_of(g); })),
        views_(on_heap([&] { return views_of(g, *layouts_); })),
        parts(on_heap([&] {
          check(step_capacity(g, *layouts_), room, "steps");
          return form_steps<room>(g, partition->minis, *views_, *layouts_, partition->chain_of);
        })),
        groups(on_heap([&] { return fuse_steps(g, *parts, *partition, o_, untuned); })),
        convolutions_(on_heap([&] { return convolution_steps(g, *parts, *groups, o_, untuned); })),
        memory(on_heap([&] { return plan_memory(g, *parts, *groups, *views_, *layouts_, *convolutions_); })),
        runs_(on_heap([&] {
          check(count_input_runs(g, *parts, *layouts_), room_for_runs, "pieces of operands");
          return input_runs_of<room_for_runs, room>(g, *parts, *layouts_, *memory);
        })),
        plan(on_heap([&] {
          return make_plan<room>(g, *parts, *groups, *memory, untuned, o_, *convolutions_, *runs_);
        })) {}

  int steps() const { return groups->count; }
  /// The parts of a step: plan->steps[first_part(i)] ... plan->steps[first_part(i + 1) - 1].
  int first_part(int step) const { return step < steps() ? groups->first[step] : parts->count; }
  long arena_bytes() const { return 4 * memory->arena_floats; }
  long weight_bytes() const { return 4 * plan->packed_floats; }
};

}  // namespace ago::tools
