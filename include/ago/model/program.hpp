// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network compiled: sizes, packing and the table of steps. No state of its own, for users who own the memory.
#pragma once

#include <ago/graph/check.hpp>
#include <ago/graph/network.hpp>
#include <ago/graph/optimized.hpp>
#include <ago/model/pack.hpp>
#include <ago/partition/opened.hpp>
#include <ago/plan/options.hpp>
#include <ago/plan/plan.hpp>
#include <ago/plan/split_steps.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace ago {

template <bool Available, bool Sorted>
struct can_be_compiled {
  static_assert(Available, "ago: this translation unit is not compiled for the model's instruction set");
  static_assert(Sorted, "ago: a schedule table must be sorted by signature, without duplicates");
};

template <bool WithinLimits>
struct can_be_partitioned {
  static_assert(WithinLimits,
                "ago: policy::paper takes at most 700 operators, a limit of compilers; use policy::paper_adjacent");
};

namespace detail {

template <auto const& Net>
inline constexpr diagnostic misfit = lowered<Net>::value.bad;

/// Stands in for a network with a misfit, which is reported: no second error hides the first. It has weights and an
/// arena, so that arrays of its sizes are arrays.
inline constexpr auto stand_in = input{} | pointwise{1} | softmax{};

template <auto const& Net>
constexpr auto const& network_or_stand_in() {
  if constexpr (misfit<Net>.what == fault::none) return Net;
  else return stand_in;
}

/// Asserts that no layer of the network has a misfit.
template <auto const& Net, diagnostic const& Found = misfit<Net>>
using network_fits = layer_fits<Found.what, Found.where, layer_number<Found.layer>, source_line<Found.line>,
                                expects<Found.expected>, gets<Found.actual>>;

}  // namespace detail

/// The steps of a network, before any schedule. Its users check `within_limits`.
template <auto const& Net, options Options>
class formed {
  static constexpr detail::network_fits<Net> layers_fit{};
  static constexpr auto const& closed =
      optimized<detail::network_or_stand_in<Net>(), Options.algebra, merging_of(Options)>::value;
  static constexpr int operators = size_of_opened(closed, opened_by(Options.policy)).nodes - closed.input_count;

 public:
  static constexpr bool within_limits = can_partition(Options.policy, operators);

 private:
  using partitioned = ago::partitioned<closed, within_limits ? Options.policy : policy::paper_adjacent, Options.device>;

 public:
  /// The operators after the passes; compound ones opened as far as the policy has cut them.
  static constexpr auto const& graph = partitioned::graph;
  /// Subgraphs and their mini-subgraphs.
  static constexpr auto const& partition = partitioned::partition;
  static_assert(partition.subgraphs.acyclic && partition.minis.acyclic);

  static constexpr auto layouts = channel_layouts_of(graph);
  static constexpr auto views = views_of(graph, layouts);
  static constexpr auto parts =
      form_steps<step_capacity(graph, layouts)>(graph, partition.minis, views, layouts, partition.chain_of);
  static constexpr int run_count = count_input_runs(graph, parts, layouts);
  /// What else to pack for steps that compute several merged operators.
  static constexpr auto merged = merged_packings_of<count_merged(graph, parts)>(graph, parts);
};

/// A thread pool: run(n, f) calls f(0), ..., f(n - 1), on whatever threads, and returns when
/// all have returned. (ago::team, or a thread pool of the user's.)
template <class Team>
concept runs_pieces = requires(Team& team, void (*f)(int)) { team.run(2, f); };

/// `Net`: a network with static storage; `Schedules`: tuned schedules (a schedule_table) or `untuned`; `Options`:
/// instruction set, policy and device. All members are known at compile time; each stage is a constant of its own, to
/// be looked at and asserted on.
template <auto const& Net, auto const& Schedules = untuned, options Options = options()>
class program {
  static constexpr can_be_compiled<available(Options.target), Schedules.sorted()> checked{};
  using formed = ago::formed<Net, Options>;
  static constexpr can_be_partitioned<formed::within_limits> partitionable{};

 public:
  static constexpr auto const& graph = formed::graph;
  /// Subgraphs and their mini-subgraphs.
  static constexpr auto const& partition = formed::partition;

 private:
  static constexpr auto const &layouts = formed::layouts, &views = formed::views, &parts = formed::parts;
  static constexpr auto groups = fuse_steps(graph, parts, partition, Options, Schedules);
  static constexpr auto convolutions = convolution_steps(graph, parts, groups, Options, Schedules);

  /// Memory and plan of steps that are cut so.
  template <auto const& Splits>
  struct placed {
    static constexpr auto memory = plan_memory(graph, parts, groups, views, layouts, convolutions, Splits);
    static constexpr auto runs = input_runs_of<formed::run_count, parts.count>(graph, parts, layouts, memory);
    static constexpr auto plan =
        make_plan<parts.count>(graph, parts, groups, memory, Schedules, Options, convolutions, runs);
  };
  static constexpr split_list<parts.capacity> uncut{};

 public:
  /// How each step is divided into work items for several threads, by the plan of uncut ones.
  static constexpr auto splits = [] {
    if constexpr (Options.device.threads == 1) return uncut;
    else return split_steps(groups, placed<uncut>::plan, Options, Schedules);
  }();
  static constexpr auto const& memory = placed<splits>::memory;
  static constexpr auto const& plan = placed<splits>::plan;

  static constexpr isa target = Options.target;
  /// What runs one after another: kernels, and pipelines of several.
  static constexpr int steps = groups.count;
  static constexpr int subgraphs = partition.subgraphs.count;
  static constexpr int tuned_steps = plan.tuned_steps;
  static constexpr int inputs = graph.input_count, outputs = graph.output_count;
  /// Floats of the weight blob, in the order in which the layers are declared.
  static constexpr std::size_t parameter_count = std::size_t(graph.parameters);
  /// Floats of the packed weights, and of the arena; both want 64-byte alignment for speed.
  static constexpr std::size_t packed_floats = std::size_t(plan.packed_floats);
  static constexpr std::size_t arena_floats = std::size_t(memory.arena_floats);
  static constexpr std::size_t weight_bytes = packed_floats * sizeof(float);
  static constexpr std::size_t arena_bytes = arena_floats * sizeof(float);
  /// Floats of input k and of output k.
  static constexpr std::size_t input_size(int k) { return std::size_t(graph.nodes[k].out.count()); }
  static constexpr std::size_t output_size(int k) { return std::size_t(graph.nodes[graph.outputs[k]].out.count()); }

  /// Folds, reorders and pads the weights, once. Writes all of `packed`.
  static void pack(std::span<float const, parameter_count> weights, std::span<float, packed_floats> packed) noexcept {
    for (float& x : packed) x = 0;  // what aligns the steps' weights lies between them
    pack_constants(graph, memory, weights.data(), packed.data());
    for (int i = 0; i < parts.count; ++i) {
      step_data data = plan.steps[i].data;
      if (runs.count[i] > 0) data.runs = runs.run + runs.first[i];
      pack_part<Options.target>(i, plan.steps[i], data, formed::merged, weights.data(), packed.data());
    }
  }
  /// Runs all steps, the work items of each one after another. Inputs and outputs do not overlap each other.
  static void run(run_memory const& memory) noexcept {
    for (entry const& e : table.entries) e.function(table.data[e.first], memory);
  }
  /// Likewise, the work items of each step by `team`.
  template <runs_pieces Team>
  static void run(run_memory const& memory, Team& team) noexcept {
    for (int k = 0; k < steps; ++k) run_step(k, memory, team);
  }
  /// Runs one step, for profiles.
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
  /// The parts of a step: plan.steps[first_part(i)] ... plan.steps[first_part(i + 1) - 1].
  static constexpr int first_part(int step) { return step < steps ? groups.first[step] : parts.count; }
  /// How a step's parts share a loop; tiling::none: it has one.
  static constexpr chain_tiling tiling_of(int step) { return groups.tiles[step]; }
  /// How a step is cut.
  static constexpr step_split split_of(int step) { return splits.of[step]; }

 private:
  struct entry {
    kernel_function function;
    int first;  ///< its data
  };
  static constexpr auto const& runs = placed<splits>::runs;
  static constexpr piece_counts counts = count_pieces(groups, splits, runs);

  struct moved_runs {
    input_run run[counts.runs > 0 ? counts.runs : 1];
  };
  /// Those of the input of each work item.
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
