// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled network: sizes, packing and the table of steps. It has no state; its users own the memory.
#pragma once

#include <ago/kernel/kernels.hpp>
#include <ago/plan/step_table.hpp>
#include <ago/runtime/phased_run.hpp>
#include <ago/runtime/planned.hpp>

#include <utility>

namespace ago::runtime {

template <bool Available>
struct can_be_compiled {
  static_assert(Available, "ago: this translation unit is not compiled for the model's instruction set");
};

}  // namespace ago::runtime

namespace ago {

/// `Net`: a network with static storage; `Schedules`: tuned schedules (a schedule_table) or `untuned`; `Options`:
/// instruction set, policy and device. All members are known at compile time; each stage is a constant that can be
/// inspected and asserted on.
template <auto const& Net, auto const& Schedules = untuned, options_for Options = options{}>
class program : public runtime::unchecked_plan<Net, Schedules, Options> {
  using base = runtime::unchecked_plan<Net, Schedules, Options>;
  static constexpr runtime::can_be_compiled<available(Options.target)> compiled{};
  static constexpr lowering::network_fits<Net> layers_fit{};
  static constexpr runtime::has_schedules<Schedules.sorted()> sorted{};
  static constexpr runtime::is_option_or_policy<Options.partitions()> accepted{};
  static constexpr runtime::can_be_partitioned<base::within_limits> partitionable{};
  static constexpr partition::partition_is_valid<base::fault> partitioned{};
  static constexpr runtime::can_be_addressed<base::fits_memory> addressable{};
  using base::groups, base::runs;

 public:
  using base::memory, base::plan, base::splits, base::steps;

  /// Runs all steps, with the work items of each one after another. Outputs must not overlap inputs or each other.
  static void run(plan::run_memory const& memory) noexcept {
    for (int k = 0; k < steps; ++k) run_step(k, memory);
  }
  /// Runs all steps; `team` computes their work items.
  template <runtime::runs_pieces Team>
  static void run(plan::run_memory const& memory, Team& team) noexcept {
    plan::kernel_memory const m{memory, table.tables()};
    runtime::run_phases(
        steps, [](int k) { return barriers.before[k]; }, [](int k) { return table.pieces(k); },
        [&](int k, int i) { kernels.of_step[k](table.piece(k, i), m); }, team);
  }
  /// Runs one step, for profiling; of two that one pass computes, the first runs both.
  static void run_step(int step, plan::run_memory const& memory) noexcept {
    plan::kernel_memory const m{memory, table.tables()};
    for (int i = 0; i < table.pieces(step); ++i) kernels.of_step[step](table.piece(step, i), m);
  }
  template <runtime::runs_pieces Team>
  static void run_step(int step, plan::run_memory const& memory, Team& team) noexcept {
    plan::kernel_memory const m{memory, table.tables()};
    auto const piece = [&](int i) { kernels.of_step[step](table.piece(step, i), m); };
    if (int const count = table.pieces(step); count == 1) piece(0);
    else team.run(count, piece);
  }

 private:
  struct kernel_list {
    plan::kernel_function of_step[steps];
  };
  template <int K>
  static constexpr plan::fused_key key = plan::key_of(groups, plan, K);
  /// Of a step that is computed with the one before.
  static void nothing_left(plan::step_data const&, plan::kernel_memory const&) {}
  template <int K>
  static constexpr plan::kernel_function kernel_of() {
    if constexpr (base::leads(K)) {
      static_assert(!base::packs(K + 1), "what a step is computed with packs nothing");
      return &kernel::window_gradients_kernel<kernel::one_pass_key_of(key<K>, key<K + 1>)>::run;
    } else if constexpr (base::leads(K - 1)) {
      return &nothing_left;
    } else {
      return kernel::kernel_for<key<K>>();
    }
  }
  template <int... I>
  static constexpr kernel_list kernels_of(std::integer_sequence<int, I...>) {
    return {{kernel_of<I>()...}};
  }
  static constexpr kernel_list kernels = kernels_of(std::make_integer_sequence<int, steps>{});
  struct wait_list {
    waits before[steps];
  };
  static constexpr wait_list barriers = [] {
    wait_list r{};
    for (int k = 0; k < steps; ++k) r.before[k] = base::waits_of(k);
    return r;
  }();
  static constexpr plan::step_table<plan::size_of_step_table(groups, splits, plan, runs)> table{groups, splits, memory,
                                                                                                plan, runs};
};

}  // namespace ago
