// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan of a compiled network for schedules that are known only at run time.
#pragma once

#include <ago/plan/run_time_plan.hpp>
#include <ago/runtime/program.hpp>
#include <ago/tuner/schedule_list.hpp>

namespace ago::tuner {

template <auto const& Net, options_for Options>
using run_time_plan_of =
    run_time_plan<runtime::formed<Net, Options>::graph.node_capacity, runtime::formed<Net, Options>::parts.capacity,
                  runtime::formed<Net, Options>::parts.count, runtime::formed<Net, Options>::run_count>;

/// Everything that program<Net, table, Options> computes at compile time, stage by stage.
template <auto const& Net, options_for Options = options{}>
class live_plan : public run_time_plan_of<Net, Options> {
  using formed = runtime::formed<Net, Options>;
  static constexpr can_be_partitioned<formed::within_limits> partitionable{};

 public:
  static constexpr isa target = Options.target;
  static constexpr auto const& graph = formed::graph;

  explicit live_plan(schedule_list const& table)
      : run_time_plan_of<Net, Options>(graph, formed::partition, formed::layouts, formed::views, formed::parts, Options,
                                       table) {}
  /// Further weights to pack, for parts that compute several merged operators.
  static auto const& merged() { return formed::merged; }
  static constexpr int inputs = graph.input_count;
  /// Are parameters an input, of which each step packs what it needs?
  static constexpr bool trained = Options.storage == storage::trained;
  /// What each step reads, packs and writes (runtime/accesses.hpp).
  void for_each_access(auto const& read, auto const& packed, auto const& written) const {
    runtime::for_each_access(graph, this->groups, this->memory, this->plan, merged(), read, packed, written);
  }
};

}  // namespace ago::tuner
