// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages of ago::program for a graph that is only known at run time.
#pragma once

#include "policies.hpp"

#include <ago/partition/fault.hpp>
#include <ago/partition/opened.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/passes/siblings.hpp>
#include <ago/plan/moved_bytes.hpp>
#include <ago/plan/stages.hpp>
#include <ago/simd/map.hpp>  // what the primitives of opened operators compute
#include <ago/simd/math.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// The arrays have the graph's capacities; they are on the heap because they would exceed a stack. Throws
/// std::length_error if the network needs more steps than there is room for, and std::invalid_argument if a policy
/// of the user's returns no valid partition.
template <int RoomForNodes, int RoomForEdges, int O>
class run_time_program {
  static constexpr int V = RoomForNodes + RoomForNodes / 2, E = RoomForEdges + RoomForNodes / 2;  ///< after merging
  static constexpr int room = 4 * V + E + O;  ///< of steps: an operator takes several if its operands are in pieces
  static constexpr int room_for_runs = 2 * room;

  /// The result of `stage`, constructed in place.
  template <class Stage>
  static auto on_heap(Stage const& stage) {
    return std::unique_ptr<decltype(stage()) const>(new auto(stage()));
  }
  static void check(int count, int capacity, char const* what) {
    if (count > capacity)
      throw std::length_error("this network needs room for " + std::to_string(count) + " " + what + ", and there is " +
                              "room for " + std::to_string(capacity));
  }
  static void check(ir::graph_size const& size) {
    check(size.nodes, V, "operators");
    check(size.edges, E, "operands");
  }
  static void check(partition::partition_fault fault) {
    if (fault == partition::partition_fault::none) return;
    throw std::invalid_argument(std::string("the policy's partition has a fault: ") + name_of(fault));
  }

  template <class T>
  using owned = std::unique_ptr<T const>;

  options const o_;
  owned<ago::ir::graph<V, E, O>> const merged_;
  owned<partition::partitioned_graph<V, E, O>> const partitioned_;

 public:
  /// The graph that runs, and its partition.
  ago::ir::graph<V, E, O> const& graph;
  partitions<V> const& partition;

 private:
  owned<plan::channel_layouts<V>> const layouts_;
  owned<plan::concat_views<V>> const views_;

 public:
  owned<plan::step_list<room>> const parts;

 private:
  owned<plan::plan_stages<V, room, room, room_for_runs>> const stages_;

 public:
  plan::fusion_list<room> const& groups;
  plan::split_list<room> const& splits;
  plan::memory_plan<V> const& memory;
  plan::input_run_table<room_for_runs, room> const& runs;
  ago::plan::execution_plan<room> const& plan;

  /// `whole`: after the passes, unmerged.
  explicit run_time_program(ago::ir::graph<RoomForNodes, RoomForEdges, O> const& whole, options const& o = {})
      : run_time_program(whole, o, untuned) {}
  run_time_program(ago::ir::graph<RoomForNodes, RoomForEdges, O> const& whole, options const& o, auto const& schedules)
      : run_time_program(whole, o, schedules, [&](auto const& f) { return tools::with_policy(o.policy, f); }) {}
  /// `by`(f) calls f.operator()<Policy>() with the policy, which `o` need not name.
  run_time_program(ago::ir::graph<RoomForNodes, RoomForEdges, O> const& whole, options const& o, auto const& schedules,
                   auto const& by)
      : o_(plan::resolved(o)), merged_(on_heap([&] {
          passes::merging const m = by([&]<class Policy>() { return plan::merging_of<Policy>(o_); });
          return passes::has_siblings(whole, m) ? passes::optimize(passes::merge_siblings(whole, m), o_.algebra)
                                                : passes::fit<V, E, O>(whole);
        })),
        partitioned_(on_heap([&] {
          check(passes::size_of_opened(*merged_, {}));
          return by([&]<class Policy>() {
            check(partition::size_of_partitioned<Policy, V, E>(*merged_, o_.device));
            auto r = partition::partition_opened<Policy, V, E>(*merged_, o_.device);
            check(passes::size_of_opened(r.graph, {}));  // for statistics(), with what is computed again
            check(partition::partition_fault_of(r.graph, r.partition));
            return r;
          });
        })),
        graph(partitioned_->graph), partition(partitioned_->partition),
        layouts_(on_heap([&] { return plan::channel_layouts_of(graph); })),
        views_(on_heap([&] { return plan::views_of(graph, *layouts_); })), parts(on_heap([&] {
          check(plan::step_capacity(graph, *layouts_), room, "steps");
          return plan::form_steps<room>(graph, partition.minis, *views_, *layouts_, partition.chain_of);
        })),
        stages_(on_heap([&] {
          check(plan::count_input_runs(graph, *parts, *layouts_), room_for_runs, "pieces of operands");
          return plan::plan_stages<V, room, room, room_for_runs>(graph, partition, *layouts_, *views_, *parts, o_,
                                                                 schedules);
        })),
        groups(stages_->groups), splits(stages_->splits), memory(stages_->memory), runs(stages_->runs),
        plan(stages_->plan) {}

  /// Of the subgraphs, counted in primitives, as for every policy.
  partition::partition_statistics statistics() const {
    auto const p = on_heap([&] {
      return tools::with_policy(o_.policy, [&]<class Policy>() {
        return partition::partition_of_primitives<Policy, V, E>(*merged_, o_.device);
      });
    });
    return partition::statistics_of(p->graph, p->partition.subgraphs);
  }
  /// The numbers of the rules that Apollo's feedback removes, if that is the policy.
  std::vector<int> removed_rules() const {
    std::vector<int> numbers;
    tools::with_policy(o_.policy, [&]<class Policy>() {
      if constexpr (std::same_as<Policy, apollo_policy>) {
        auto const all = on_heap([&] { return passes::opened<V, E>(*merged_, partition::opened_by<Policy>); });
        partition::apollo_rule_set removed = Policy::removed_rules(*all);
        for (partition::apollo_rule const& r : partition::aggregation_rules) {
          if (removed & 1) numbers.push_back(r.number);
          removed = partition::apollo_rule_set(removed >> 1);
        }
        for (partition::apollo_rule const& r : partition::stitching_rules) {
          if (removed & 1) numbers.push_back(r.number);
          removed = partition::apollo_rule_set(removed >> 1);
        }
      }
    });
    return numbers;
  }
  int steps() const { return groups.count; }
  /// Where the channels of values are, and which values are in the memory of others.
  plan::channel_layouts<V> const& layouts() const { return *layouts_; }
  plan::concat_views<V> const& views() const { return *views_; }
  /// The bytes that each step moves in the caches of the device.
  auto moved() const {
    return on_heap([&] { return plan::moved_by(graph, groups, memory, plan, runs, o_.device); });
  }
  /// The parts of a step: plan.steps[first_part(i)] ... plan.steps[first_part(i + 1) - 1].
  int first_part(int step) const { return step < steps() ? groups.first[step] : parts->count; }
  long arena_bytes() const { return 4 * memory.arena_floats; }
  long weight_bytes() const { return 4 * plan.packed_floats; }
};

}  // namespace ago::tools
