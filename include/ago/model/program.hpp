// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled network: sizes, packing and the table of steps. It has no state; its users own the memory.
#pragma once

#include <ago/kernel/kernels.hpp>
#include <ago/model/planned.hpp>

#include <utility>

namespace ago {

template <bool Available>
struct can_be_compiled {
  static_assert(Available, "ago: this translation unit is not compiled for the model's instruction set");
};

/// A thread pool, ago::team or a user's own: run(n, f) calls f(0), ..., f(n - 1) on any threads, and returns when all
/// calls have returned.
template <class Team>
concept runs_pieces = requires(Team& team, void (*f)(int)) { team.run(2, f); };

/// `Net`: a network with static storage; `Schedules`: tuned schedules (a schedule_table) or `untuned`; `Options`:
/// instruction set, policy and device. All members are known at compile time; each stage is a constant that can be
/// inspected and asserted on.
template <auto const& Net, auto const& Schedules = untuned, options Options = options()>
class program : public detail::unchecked_plan<Net, Schedules, Options> {
  using base = detail::unchecked_plan<Net, Schedules, Options>;
  static constexpr can_be_compiled<available(Options.target)> compiled{};
  static constexpr detail::network_fits<Net> layers_fit{};
  static constexpr has_schedules<Schedules.sorted()> sorted{};
  static constexpr can_be_partitioned<base::within_limits> partitionable{};
  using base::groups, base::runs;

 public:
  using base::memory, base::plan, base::splits, base::steps;

  /// Runs all steps, with the work items of each one after another. Outputs must not overlap inputs or each other.
  static void run(run_memory const& memory) noexcept {
    for (entry const& e : table.entries) e.function(table.data[e.first], memory);
  }
  /// Runs all steps; `team` computes the work items of each.
  template <runs_pieces Team>
  static void run(run_memory const& memory, Team& team) noexcept {
    for (int k = 0; k < steps; ++k) run_step(k, memory, team);
  }
  /// Runs one step, for profiling.
  static void run_step(int step, run_memory const& memory) noexcept {
    for (int i = table.first_entry[step]; i < table.first_entry[step + 1]; ++i)
      table.entries[i].function(table.data[table.entries[i].first], memory);
  }
  template <runs_pieces Team>
  static void run_step(int step, run_memory const& memory, Team& team) noexcept {
    int const first = table.first_entry[step], count = table.first_entry[step + 1] - first;
    auto const piece = [&](int i) {
      entry const& e = table.entries[first + i];
      e.function(table.data[e.first], memory);
    };
    if (count == 1) piece(0);
    else team.run(count, piece);
  }

 private:
  struct entry {
    kernel_function function;
    int first;  ///< index of its data
  };
  static constexpr piece_counts counts = count_pieces(groups, splits, runs);

  struct moved_runs {
    input_run run[counts.runs > 0 ? counts.runs : 1];
  };
  /// The input segments of each work item.
  static constexpr moved_runs piece_runs = [] {
    moved_runs r{};
    int n = 0;
    for_each_piece(groups, splits, memory, plan, [&](int, int first, int, step_piece const& piece) {
      for (int i = 0; i < runs.count[first]; ++i) r.run[n++] = run_of_piece(runs.run[runs.first[first] + i], piece);
    });
    return r;
  }();

  /// An entry for each work item, and the data of its parts.
  struct piece_table {
    entry entries[counts.pieces];
    int first_entry[steps + 1];
    step_data data[counts.parts];
  };
  template <int... I>
  static constexpr piece_table make_table(std::integer_sequence<int, I...>) {
    kernel_function const functions[] = {kernel_for<key_of(groups, plan, I)>()...};
    piece_table t{};
    piece_counts n;
    for_each_piece(groups, splits, memory, plan, [&](int step, int first, int count, step_piece const& piece) {
      t.entries[n.pieces++] = {functions[step], n.parts};
      t.first_entry[step + 1] = n.pieces;
      for (int i = 0; i < count; ++i) t.data[n.parts + i] = piece.part[i];
      if (runs.count[first] > 0) t.data[n.parts].runs = piece_runs.run + n.runs;
      n.parts += count;
      n.runs += runs.count[first];
    });
    return t;
  }
  static constexpr piece_table table = make_table(std::make_integer_sequence<int, steps>{});
};

}  // namespace ago
