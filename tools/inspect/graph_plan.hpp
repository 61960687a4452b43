// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of a graph that is only known at run time.
#pragma once

#include "policies.hpp"

#include <ago/partition/fault.hpp>
#include <ago/partition/opened.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/passes/siblings.hpp>
#include <ago/plan/moved_bytes.hpp>
#include <ago/plan/run_time_plan.hpp>
#include <ago/simd/map.hpp>  // what the primitives of opened operators compute
#include <ago/simd/math.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// What ago::runtime::formed is for a network known at compile time: the steps before scheduling.
template <int RoomForNodes, int RoomForEdges, int O>
class formed_graph {
 protected:
  static constexpr int V = RoomForNodes + RoomForNodes / 2, E = RoomForEdges + RoomForNodes / 2;  ///< after merging
  static constexpr int room = 4 * V + E + O;  ///< of steps: an operator takes several if its operands are in pieces

  static constexpr int room_for_runs = 2 * room;

  static void check(int count, int capacity, char const* what) {
    if (count > capacity)
      throw std::length_error("this network needs room for " + std::to_string(count) + " " + what + ", and there is " +
                              "room for " + std::to_string(capacity));
  }

  options const o_;
  ago::ir::graph<V, E, O> const before_;  ///< partition

 private:
  partition::partitioned_graph<V, E, O> const partitioned_;

  static void check(ir::graph_size const& size) {
    check(size.nodes, V, "operators");
    check(size.edges, E, "operands");
  }
  static void check(partition::partition_fault fault) {
    if (fault == partition::partition_fault::none) return;
    throw std::invalid_argument(std::string("the policy's partition has a fault: ") + name_of(fault));
  }

 public:
  using scheduled = plan::run_time_plan<V, room, room, room_for_runs>;

  /// The graph that runs, and its partition.
  ago::ir::graph<V, E, O> const& graph;
  partitions<V> const& partition;
  /// Where the channels of values are, and which values are in the memory of others.
  plan::channel_layouts<V> const layouts;
  plan::concat_views<V> const views;
  plan::step_list<room> const parts;

  formed_graph(ago::ir::graph<RoomForNodes, RoomForEdges, O> const& whole, options const& o, auto const& by)
      : o_(plan::resolved(o)), before_([&] {
          passes::merging const m = by([&]<class Policy>() { return plan::merging_of<Policy>(o_); });
          return passes::has_siblings(whole, m) ? passes::optimize(passes::merge_siblings(whole, m), o_.algebra)
                                                : passes::fit<V, E, O>(whole);
        }()),
        partitioned_([&] {
          check(passes::size_of_opened(before_, {}));
          return by([&]<class Policy>() {
            check(partition::size_of_partitioned<Policy, V, E>(before_, o_.device));
            auto r = partition::partition_opened<Policy, V, E>(before_, o_.device);
            check(passes::size_of_opened(r.graph, {}));  // for statistics(), with what is computed again
            check(partition::partition_fault_of(r.graph, r.partition));
            return r;
          });
        }()),
        graph(partitioned_.graph), partition(partitioned_.partition), layouts(plan::channel_layouts_of(graph)),
        views(plan::views_of(graph, layouts)), parts([&] {
          check(plan::step_capacity(graph, layouts), room, "steps");
          return plan::form_steps<room>(graph, partition.minis, views, layouts, partition.chain_of);
        }()) {
    check(plan::count_input_runs(graph, parts, layouts), room_for_runs, "pieces of operands");
  }

  /// Of the subgraphs, counted in primitives, as for every policy.
  partition::partition_statistics statistics() const {
    auto const p = tools::with_policy(o_.policy, [&]<class Policy>() {
      return partition::partition_of_primitives<Policy, V, E>(before_, o_.device);
    });
    return partition::statistics_of(p.graph, p.partition.subgraphs);
  }
  /// The numbers of the rules that Apollo's feedback removes, if that is the policy.
  std::vector<int> removed_rules() const {
    std::vector<int> numbers;
    tools::with_policy(o_.policy, [&]<class Policy>() {
      if constexpr (std::same_as<Policy, partition::apollo_policy>) {
        partition::apollo_rule_set removed =
            Policy::removed_rules(passes::opened<V, E>(before_, partition::opened_by<Policy>));
        auto const add = [&](auto const& rules) {
          for (partition::apollo_rule const& r : rules) {
            if (removed & 1) numbers.push_back(r.number);
            removed = partition::apollo_rule_set(removed >> 1);
          }
        };
        add(partition::aggregation_rules);
        add(partition::stitching_rules);
      }
    });
    return numbers;
  }
};

/// The plan, which plan_of() makes.
template <int RoomForNodes, int RoomForEdges, int O>
class graph_plan : public formed_graph<RoomForNodes, RoomForEdges, O>,
                   public formed_graph<RoomForNodes, RoomForEdges, O>::scheduled {
  using formed = formed_graph<RoomForNodes, RoomForEdges, O>;
  using formed::V, formed::o_;

 public:
  using formed::graph, formed::partition, formed::parts;

  graph_plan(ago::ir::graph<RoomForNodes, RoomForEdges, O> const& whole, options const& o, auto const& schedules,
             auto const& by)
      : formed(whole, o, by), formed::scheduled(graph, partition, this->layouts, this->views, parts, o_, schedules) {}

  /// Further weights to pack, for parts that compute several merged operators.
  plan::merged_packings<V> merged() const {
    formed::check(count_merged(graph, parts), V, "merged operators");
    return plan::merged_packings_of<V>(graph, parts);
  }
  /// The bytes that each step moves in the caches of the device.
  auto moved() const { return plan::moved_by(graph, this->groups, this->memory, this->plan, this->runs, o_.device); }
};

/// The plan of `whole` (after the passes, unmerged), whose arrays have capacities by that of the graph: on the heap,
/// because they would exceed a stack. `by`(f) calls f.operator()<Policy>() with the policy, which `o` need not name.
/// Throws std::length_error if the network needs more steps than there is room for, and std::invalid_argument if a
/// policy of the user's returns no valid partition.
template <int V, int E, int O>
std::unique_ptr<graph_plan<V, E, O> const> plan_of(ago::ir::graph<V, E, O> const& whole, options const& o,
                                                   auto const& schedules, auto const& by) {
  return std::make_unique<graph_plan<V, E, O> const>(whole, o, schedules, by);
}
/// By the policy of the options.
template <int V, int E, int O, class Schedules = untuned_t>
auto plan_of(ago::ir::graph<V, E, O> const& whole, options const& o = {}, Schedules const& schedules = {}) {
  return plan_of(whole, o, schedules, [&](auto const& f) { return tools::with_policy(o.policy, f); });
}

}  // namespace ago::tools
