// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network planned at run time, by the functions that plan at compile time.
#pragma once

#include <ago/plan/stages.hpp>
#include <ago/plan/step_table.hpp>
#include <ago/runtime/program.hpp>
#include <ago/tuner/schedule_list.hpp>

namespace ago::tuner {

/// The plan of `Net` under a schedule table known only at run time: everything that program<Net, table, Options>
/// computes at compile time, stage by stage. It is large and its steps point into it, so it cannot be copied or moved.
template <auto const& Net, options_for Options = options{}>
class live_plan {
 public:
  using formed = ago::runtime::formed<Net, Options>;
  static constexpr can_be_partitioned<formed::within_limits> partitionable{};
  static constexpr int part_count = formed::parts.count;

  explicit live_plan(schedule_list const& table)
      : made_(formed::graph, formed::partition, formed::layouts, formed::views, formed::parts, Options, table) {
    for (int i = 0; i < part_count; ++i)
      if (made_.runs.count[i] > 0) made_.plan.steps[i].data.runs = made_.runs.run + made_.runs.first[i];
  }
  live_plan(live_plan const&) = delete;
  live_plan& operator=(live_plan const&) = delete;

  /// Number of steps, each of one part or several.
  int steps() const { return made_.groups.count; }
  int first_part(int step) const { return step < steps() ? made_.groups.first[step] : part_count; }
  chain_tiling tiling_of(int step) const { return made_.groups.tiles[step]; }
  step_split split_of(int step) const { return made_.splits.of[step]; }
  waits waits_of(int step) const { return made_.splits.waits_for[step]; }
  fused_key key(int step) const { return key_of(made_.groups, made_.plan, step); }
  planned_step const& part(int i) const { return made_.plan.steps[i]; }

  auto const& memory() const { return made_.memory; }
  /// The table of steps in lists that grow.
  template <template <class T, int N> class List>
  step_table<step_table_size{}, List> table() const {
    return {made_.groups, made_.splits, made_.memory, made_.plan, made_.runs};
  }
  std::size_t packed_floats() const { return std::size_t(made_.plan.packed_floats); }
  std::size_t arena_floats() const { return std::size_t(made_.memory.arena_floats); }

  /// Do both run the same kernels on the same tiles? Different schedules may lead to the same plan.
  bool same_as(live_plan const& other) const {
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
  bool packs_alike(live_plan const& other, int i) const {
    kernel_key const &a = part(i).key, &b = other.part(i).key;
    return a.what == b.what && a.paired == b.paired && a.tile.vectors == b.tile.vectors && a.after == b.after &&
           packed_floats_of(i) == other.packed_floats_of(i);
  }
  /// Floats of part i's packed weights, which start at part(i).data.weights.
  long packed_floats_of(int i) const {
    long const next = i + 1 < part_count ? part(i + 1).data.weights : made_.plan.packed_floats;
    return next - part(i).data.weights;
  }

 private:
  plan_stages<formed::graph.node_capacity, formed::parts.capacity, part_count, formed::run_count> made_;
};

}  // namespace ago::tuner
