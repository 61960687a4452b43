// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A planned network: sizes, the plan of its steps, and packing. It has no kernels, so any machine can pack for another.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/network/check.hpp>
#include <ago/network/network.hpp>
#include <ago/partition/fault.hpp>
#include <ago/partition/opened.hpp>
#include <ago/passes/optimized.hpp>
#include <ago/plan/divide_steps.hpp>
#include <ago/plan/one_pass.hpp>
#include <ago/plan/options.hpp>
#include <ago/plan/plan.hpp>
#include <ago/plan/predicted_time.hpp>
#include <ago/runtime/accesses.hpp>
#include <ago/runtime/pack.hpp>
#include <ago/runtime/packing_hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace ago::runtime {

template <bool Sorted>
struct has_schedules {
  static_assert(Sorted, "ago: a schedule table must be sorted by signature, without duplicates");
};

template <bool Partitions>
struct is_option_or_policy {
  static_assert(Partitions,
                "ago: this is neither an option nor a policy, which has a static constexpr partition(graph, device) "
                "that returns partitions");
};

template <bool WithinLimits>
struct can_be_partitioned {
  static_assert(WithinLimits,
                "ago: policy::paper takes at most 2,000 operators because of compiler limits; use "
                "policy::paper_adjacent");
};

template <bool FitsOffsets>
struct can_be_addressed {
  static_assert(FitsOffsets, "ago: packed weights and arena must have fewer than 2^31 floats each");
};

/// Replaces a network with a misfit, so that no further errors hide the one that is reported. It has weights and an
/// arena, so that arrays of its sizes are valid.
inline constexpr auto stand_in = input{} | pointwise{1} | softmax{};

template <auto const& Net>
constexpr auto const& network_or_stand_in() {
  if constexpr (lowering::misfit<Net>.what == fault::none) return Net;
  else return stand_in;
}

/// The bases of formed and planned, without assertions, because errors are clearest in the class that a user names.
template <auto const& Net, options_for Options>
class unchecked_steps {
  using policy = policy_of<Options>;
  static constexpr auto const& closed =
      optimized<network_or_stand_in<Net>(), Options.algebra, merging_of<policy>(Options)>::value;
  static constexpr int operators = size_of_opened(closed, opened_by<policy>).nodes - closed.input_count;

 public:
  static constexpr bool within_limits = operators <= most_operators<policy>;
  /// The operators after the passes.
  static constexpr auto const& optimized_graph = closed;

 private:
  using found =
      ago::partition::partitioned<closed, std::conditional_t<within_limits, policy, ago_policy>, Options.device>;

 public:
  static constexpr partition_fault fault = partition_fault_of(found::graph, found::partition);

 private:
  using partitioned = std::conditional_t<fault == partition_fault::none, found,
                                         ago::partition::partitioned<closed, ago_policy, Options.device>>;

 public:
  /// Likewise; compound operators are opened if the policy has cut them.
  static constexpr auto const& graph = partitioned::graph;
  /// Subgraphs and their mini-subgraphs.
  static constexpr auto const& partition = partitioned::partition;

  static constexpr auto layouts = channel_layouts_of(graph);
  static constexpr auto views = views_of(graph, layouts);
  static constexpr auto parts =
      form_steps<step_capacity(graph, layouts)>(graph, partition.minis, views, layouts, partition.chain_of);
  static constexpr int run_count = count_input_runs(graph, parts, layouts);
  /// Further weights to pack, for steps that compute several merged operators.
  static constexpr auto merged = merged_packings_of<count_merged(graph, parts)>(graph, parts);
};

/// The plan of a network, valid if the network has no misfit.
template <auto const& Net, auto const& Schedules, options_for Options>
class unchecked_plan {
  using formed = unchecked_steps<Net, Options>;

 public:
  static constexpr auto const& graph = formed::graph;
  /// Subgraphs and their mini-subgraphs.
  static constexpr auto const& partition = formed::partition;

 protected:
  static constexpr bool within_limits = formed::within_limits;
  static constexpr partition_fault fault = formed::fault;
  static constexpr auto groups = fuse_steps(graph, formed::parts, partition, Options, Schedules);

 private:
  static constexpr auto const &layouts = formed::layouts, &views = formed::views, &parts = formed::parts;
  static constexpr auto convolutions = convolution_steps(graph, parts, groups, layouts, Options, Schedules);
  /// Of one core's program.
  static constexpr auto one_pass = find_one_pass(graph, parts, groups, views, layouts, convolutions, Options);

  /// make_plan in evaluations of at most so many steps, to each of which compilers' limits apply.
  static constexpr int piece_steps = 256;
  template <auto const& Memory, auto const& Runs, int K>
  static AGO_CONSTEVAL auto plan_piece() {
    constexpr int first = K * piece_steps, left = parts.count - first, count = left < piece_steps ? left : piece_steps;
    auto const plan = [](auto const*... before) {
      return make_plan<count>(graph, parts, groups, Memory, Schedules, Options, convolutions, Runs, first, before...);
    };
    if constexpr (K > 0) return plan(&piece<Memory, Runs, K - 1>);
    else return plan();
  }
  template <auto const& Memory, auto const& Runs, int K>
  static constexpr auto piece = plan_piece<Memory, Runs, K>();
  template <auto const& Memory, auto const& Runs, int... K>
  static constexpr auto plan_in_pieces(std::integer_sequence<int, K...>) {
    return join<parts.count>(piece<Memory, Runs, K>...);
  }

  /// Memory and plan of steps divided by `Splits`.
  template <auto const& Splits>
  struct placed {
    static constexpr auto memory =
        plan_memory(graph, parts, groups, views, layouts, one_pass.convolutions, Splits, Options.storage);
    static constexpr auto runs = input_runs_of<formed::run_count, parts.count>(graph, parts, layouts, memory);
    static constexpr auto plan =
        plan_in_pieces<memory, runs>(std::make_integer_sequence<int, (parts.count + piece_steps - 1) / piece_steps>());
  };
  static constexpr split_list<parts.capacity> uncut{};

 public:
  /// How each step is divided into work items for several threads, and what they wait for; derived from the plan of
  /// undivided steps. Those of one thread are not divided, but one pass computes some pairs (plan/one_pass.hpp).
  static constexpr auto splits = []() AGO_CONSTEVAL {
    if constexpr (Options.device.threads == 1) {
      return one_pass.splits;
    } else {
      using whole = placed<uncut>;
      return divide_steps(graph, parts, groups, views, layouts, whole::memory, whole::plan, Options.device, Schedules);
    }
  }();
  static constexpr auto const& memory = placed<splits>::memory;
  static constexpr auto const& plan = placed<splits>::plan;

  static constexpr isa target = Options.target;
  /// Number of steps, which run one after another: kernels, and pipelines of several kernels.
  static constexpr int steps = groups.count;
  static constexpr int subgraphs = partition.subgraphs.count;
  static constexpr int tuned_steps = plan.tuned_steps;
  static constexpr int inputs = graph.input_count, outputs = graph.output_count;
  /// Floats of the weight blob, which is in the order of declaration of the layers.
  static constexpr std::size_t parameter_count = std::size_t(graph.parameters);
  /// Floats of the packed weights and of the arena; both should have 64-byte alignment for speed.
  static constexpr std::size_t packed_floats = std::size_t(plan.packed_floats);
  static constexpr std::size_t arena_floats = std::size_t(memory.arena_floats);
  static constexpr std::size_t weight_bytes = packed_floats * sizeof(float);
  static constexpr std::size_t arena_bytes = arena_floats * sizeof(float);
  /// Floats of input k.
  static constexpr std::size_t input_size(int k) { return std::size_t(graph.nodes[k].out.count()); }
  /// Floats of output k.
  static constexpr std::size_t output_size(int k) { return std::size_t(graph.nodes[graph.outputs[k]].out.count()); }

  /// Folds, reorders and pads the weights, once. Writes all of `packed`.
  static void pack(std::span<float const, parameter_count> weights, std::span<float, packed_floats> packed) noexcept {
    for (float& x : packed) x = 0;  // also the gaps that align the steps' weights
    packings.template pack<Options.target, contracts>(weights.data(), packed.data());
  }
  /// Packs those of one step (storage::trained), where those of other steps have been.
  static void pack_step(int step, std::span<float const, parameter_count> weights,
                        std::span<float, packed_floats> packed) noexcept {
    packing_place const from = starts.of_step[step], to = starts.of_step[step + 1];
    packings.template pack_operators<Options.target, contracts>(from.operators, to.operators, weights.data(),
                                                                packed.data());
    packings.template pack_stages<Options.target>(from.stages, to.stages, weights.data(), packed.data());
  }
  /// The signature of packed weights, which distinguishes network, instruction set, schedule table and version of ago.
  static constexpr std::uint64_t signature() {
    packing_hash h(graph, memory, packed_floats);
    for (int i = 0; i < parts.count; ++i) h.mix(plan.steps[i], packing_data_of(i));
    for (merged_packing const& m : formed::merged) h.mix(m.step, m.from);
    return h.value();
  }
  /// The parts of a step: plan.steps[first_part(i)] ... plan.steps[first_part(i + 1) - 1].
  static constexpr int first_part(int step) { return step < steps ? groups.first[step] : parts.count; }
  /// How the parts of a step share a loop; tiling::none: it has a single part.
  static constexpr chain_tiling tiling_of(int step) { return groups.tiles[step]; }
  /// How a step is divided into work items.
  static constexpr step_split split_of(int step) { return splits.of[step]; }
  /// What its work items wait for.
  static constexpr waits waits_of(int step) { return step == 0 ? waits::all : splits.waits_for[step]; }
  /// Does one pass compute this step and the next one?
  static constexpr bool leads(int step) {
    return Options.device.threads == 1 && step >= 0 && step + 1 < steps && waits_of(step + 1) == waits::nothing;
  }
  /// The bytes that each step moves in the caches of a device (plan/moved_bytes.hpp).
  static constexpr auto moved(device const& on = Options.device) {
    return moved_by(graph, groups, memory, plan, runs, on);
  }
  /// What each step reads, packs and writes (runtime/accesses.hpp).
  static constexpr void for_each_access(auto const& read, auto const& packed, auto const& written) {
    runtime::for_each_access(graph, groups, memory, plan, formed::merged, read, packed, written);
  }
  /// The cycles that each step takes on one core of a device (plan/predicted_time.hpp).
  static constexpr std::array<predicted_cycles, std::size_t(groups.count)> predicted(
      device const& on = Options.device) {
    auto const bytes = moved(on);
    std::array<predicted_cycles, std::size_t(groups.count)> r{};
    for (int k = 0; k < steps; ++k) {
      int const first = first_part(k), count = first_part(k + 1) - first;
      r[std::size_t(k)] = predict_step(plan.steps + first, count, tiling_of(k), bytes.of[k], on);
    }
    return r;
  }

 protected:
  /// Are weights packed for this step?
  static constexpr bool packs(int step) {
    packing_place const from = starts.of_step[step], to = starts.of_step[step + 1];
    return from.operators < to.operators || from.stages < to.stages;
  }
  static constexpr bool fits_memory = fits_offsets(plan.packed_floats) && fits_offsets(memory.arena_floats);
  static constexpr auto const& runs = placed<splits>::runs;

 private:
  static constexpr bool contracts = [] {
    for (int i = 0; i < parts.count; ++i)
      if (kernel::contracts(plan.steps[i].key.what)) return true;
    return false;
  }();
  static constexpr input_run const* runs_of(int part) {
    return runs.count[part] > 0 ? runs.run + runs.first[part] : nullptr;
  }
  static constexpr planned_data packing_data_of(int part) {
    planned_data data = plan.steps[part].data;
    data.runs = runs_of(part);
    return data;
  }
  /// Calls one of the functions for each thing to be packed, in order.
  static constexpr void for_each_packed(auto const& constant, auto const& main, auto const& after) {
    for_each_constant(graph, memory, constant);
    for (int i = 0; i < parts.count; ++i) for_each_packing(i, plan.steps[i], runs_of(i), formed::merged, main, after);
  }
  /// A place in the list of packings.
  struct packing_place {
    std::uint16_t operators{}, stages{};
  };
  /// The first operator and stage of each step in that list, and the end.
  struct packing_starts {
    packing_place of_step[steps + 1]{};
  };
  static constexpr packing_starts starts = []() AGO_CONSTEVAL {
    packing_starts r;
    for (int i = 0; i < parts.count; ++i) {
      packing_place& next = r.of_step[groups.group_of[i] + 1];
      if (first_part(groups.group_of[i]) == i) next = r.of_step[groups.group_of[i]];
      for_each_packing(
          i, plan.steps[i], runs_of(i), formed::merged, [&](auto const&) { ++next.operators; },
          [&](auto const&) { ++next.stages; });
    }
    return r;
  }();
  static constexpr int constants = []() AGO_CONSTEVAL {
    int r = 0;
    for_each_constant(graph, memory, [&](auto const&) { ++r; });
    return r;
  }();
  static constexpr auto packings = []() AGO_CONSTEVAL {
    packing_list<constants, starts.of_step[steps].operators, starts.of_step[steps].stages> r;
    int c = 0, o = 0, s = 0;
    for_each_packed([&](auto const& x) { r.constants[c++] = x; }, [&](auto const& x) { r.operators[o++] = x; },
                    [&](auto const& x) { r.stages[s++] = x; });
    return r;
  }();
};

/// The steps of a network before scheduling. Its users must check `within_limits` and `fault`.
template <auto const& Net, options_for Options>
class formed : public unchecked_steps<Net, Options> {
  static constexpr lowering::network_fits<Net> layers_fit{};
};

}  // namespace ago::runtime

namespace ago {

/// A program without kernels; `Options.target` may be an instruction set that this machine does not have.
template <auto const& Net, auto const& Schedules = untuned, options_for Options = options{}>
class planned : public runtime::unchecked_plan<Net, Schedules, Options> {
  static constexpr lowering::network_fits<Net> layers_fit{};
  static constexpr runtime::has_schedules<Schedules.sorted()> sorted{};
  static constexpr runtime::is_option_or_policy<Options.partitions()> accepted{};
  static constexpr runtime::can_be_partitioned<planned::within_limits> partitionable{};
  static constexpr partition::partition_is_valid<planned::fault> partitioned{};
  static constexpr runtime::can_be_addressed<planned::fits_memory> addressable{};
};

}  // namespace ago
