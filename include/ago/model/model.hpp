// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The object a user owns: packed weights and a workspace inline, nothing on the heap.
#pragma once

#include <ago/graph/check.hpp>
#include <ago/model/arguments.hpp>
#include <ago/model/large_pages.hpp>
#include <ago/model/overlap.hpp>
#include <ago/model/program.hpp>
#include <ago/model/status.hpp>

#include <limits>

namespace ago {

namespace detail {

/// A span of run-time size, once for each element of a pack.
template <std::size_t, class T>
using dynamic = std::span<T>;

/// `I`, `O`: the inputs and outputs of the network, so that every call has one span of fixed extent for each.
template <class Program, class Inputs, class Outputs>
class model_of;

template <class Program, std::size_t... I, std::size_t... O>
class model_of<Program, std::index_sequence<I...>, std::index_sequence<O...>> {
  using spans =
      type_list<std::span<float const, Program::input_size(I)>..., std::span<float, Program::output_size(O)>...>;

 public:
  using program = Program;
  static constexpr isa target = Program::target;
  static constexpr int steps = Program::steps, subgraphs = Program::subgraphs, tuned_steps = Program::tuned_steps;
  static constexpr std::size_t parameter_count = Program::parameter_count;
  static constexpr std::size_t arena_bytes = Program::arena_bytes, weight_bytes = Program::weight_bytes;
  static constexpr std::size_t input_size(int k = 0) { return Program::input_size(k); }
  static constexpr std::size_t output_size(int k = 0) { return Program::output_size(k); }

  /// Scratch memory of one run: one per thread that runs the model at the same time.
  struct workspace {
    alignas(64) float arena[Program::arena_floats > 0 ? Program::arena_floats : 1];
  };

  /// Packs the weights, which are not needed afterwards. An array of another length does not compile.
  explicit model_of(std::span<float const, parameter_count> weights) noexcept { pack(weights); }
  template <class Weights>
    requires(!std::is_convertible_v<Weights const&, std::span<float const, parameter_count>>)
  explicit model_of(Weights const&) {
    (void)weights_fit<false, parameter_count_is<parameter_count>, gets_sizes<extent_of<Weights>>>{};
  }
  /// For weights whose number is known at run time only. If it is not parameter_count, `result` says so, the model
  /// answers every checked call with status::no_weights, and in unchecked ones all weights are NaN.
  model_of(std::span<float const> weights, status& result) noexcept {
    result = weights.size() == parameter_count ? status::ok : status::wrong_weight_count;
    if (result == status::ok) pack(weights.template first<parameter_count>());
    else for (float& x : packed_) x = std::numeric_limits<float>::quiet_NaN();
  }
  model_of(model_of const&) = delete;
  model_of& operator=(model_of const&) = delete;

  /// Runs the network in the model's own workspace: one span for each input, then one for each output.
  void operator()(std::span<float const, Program::input_size(I)>... in,
                  std::span<float, Program::output_size(O)>... out) noexcept {
    run(own_, in..., out...);
  }
  /// Likewise; the work items of each step, if the network is compiled for several threads, by `team`.
  template <runs_pieces Team>
  void operator()(std::span<float const, Program::input_size(I)>... in,
                  std::span<float, Program::output_size(O)>... out, Team& team) noexcept {
    run(own_, in..., out..., team);
  }
  template <class... A>
    requires(!convertible<type_list<A...>, spans> && !(runs_pieces<std::remove_reference_t<A>> || ...))
  void operator()(A&&...) {
    (void)call_fits<false, input_sizes_are<Program::input_size(I)...>, output_sizes_are<Program::output_size(O)...>,
                    gets_sizes<extent_of<A>...>>{};
  }
  /// Runs in the caller's workspace. Touches nothing else, so any number of threads may call it.
  void run(workspace& w, std::span<float const, Program::input_size(I)>... in,
           std::span<float, Program::output_size(O)>... out) const noexcept {
    float const* const inputs[] = {in.data()..., nullptr};
    float* const outputs[] = {out.data()..., nullptr};
    Program::run({packed_, w.arena, inputs, outputs});
  }
  template <runs_pieces Team>
  void run(workspace& w, std::span<float const, Program::input_size(I)>... in,
           std::span<float, Program::output_size(O)>... out, Team& team) const noexcept {
    float const* const inputs[] = {in.data()..., nullptr};
    float* const outputs[] = {out.data()..., nullptr};
    Program::run({packed_, w.arena, inputs, outputs}, team);
  }

  /// Like operator(), with a team or without, for spans whose size is known at run time only. Refuses also what
  /// operator() trusts its caller with: outputs that share memory with inputs, with each other or with the model.
  template <runs_pieces... Team>
    requires(sizeof...(Team) <= 1)
  status try_run(dynamic<I, float const>... in, dynamic<O, float>... out, Team&... team) noexcept {
    return try_run_in(own_, in..., out..., team...);
  }
  /// Like run(), with a team or without, for spans whose size is known at run time only.
  template <runs_pieces... Team>
    requires(sizeof...(Team) <= 1)
  status try_run_in(workspace& w, dynamic<I, float const>... in, dynamic<O, float>... out,
                    Team&... team) const noexcept {
    if (!has_weights_) return status::no_weights;
    if (!((in.size() == Program::input_size(I)) && ...)) return status::wrong_input_size;
    if (!((out.size() == Program::output_size(O)) && ...)) return status::wrong_output_size;
    detail::memory_range const inputs[] = {detail::memory_range(in)...}, outputs[] = {detail::memory_range(out)...};
    if (detail::in_conflict(inputs, outputs, {&w, sizeof w}, {this, sizeof *this})) return status::buffers_overlap;
    run(w, in.template first<Program::input_size(I)>()..., out.template first<Program::output_size(O)>()..., team...);
    return status::ok;
  }

 private:
  void pack(std::span<float const, parameter_count> weights) noexcept {
    prefer_large_pages(this, sizeof *this);
    Program::pack(weights, std::span<float, Program::packed_floats>(packed_, Program::packed_floats));
    has_weights_ = true;
  }

  alignas(64) float packed_[Program::packed_floats > 0 ? Program::packed_floats : 1];
  bool has_weights_ = false;
  workspace own_;
};

/// Stands in for the model of a network with a misfit, which has been reported: no second error hides the first.
struct no_model {
  static constexpr isa target = native_isa;
  static constexpr int steps = 0, subgraphs = 0, tuned_steps = 0;
  static constexpr std::size_t parameter_count = 1, arena_bytes = 0, weight_bytes = 0;
  static constexpr std::size_t input_size(int = 0) { return 1; }
  static constexpr std::size_t output_size(int = 0) { return 1; }
  struct workspace {};

  explicit no_model(auto&&...) {}
  void operator()(auto&&...) {}
  void run(auto&&...) const {}
  status try_run(auto&&...) { return status::no_weights; }
  status try_run_in(auto&&...) const { return status::no_weights; }
};

template <auto const& Net, auto const& Schedules, options Options,
          bool Ok = misfit<Net>.what == fault::none && available(Options.target) && Schedules.sorted()>
struct choose_model {
  using type = no_model;
};
template <auto const& Net, auto const& Schedules, options Options>
struct choose_model<Net, Schedules, Options, true> {
  using program = ago::program<Net, Schedules, Options>;
  using type = model_of<program, std::make_index_sequence<std::size_t(program::inputs)>,
                        std::make_index_sequence<std::size_t(program::outputs)>>;
};

}  // namespace detail

/// A network ready to run, compiled as `Options` say (an instruction set or a policy alone will do). Large (its packed
/// weights are inside): make it `static`, or a member of something that is. Construction and runs allocate nothing,
/// throw nothing and print nothing; construction asks the system for large pages. Inputs, outputs and weights need no
/// alignment and must not overlap; channel-last (NHWC) unless the network says otherwise.
template <auto const& Net, auto const& Schedules = untuned, options Options = options()>
class model : public detail::choose_model<Net, Schedules, Options>::type {
  using base = typename detail::choose_model<Net, Schedules, Options>::type;
  static constexpr detail::network_fits<Net> layers_fit{};
  static constexpr can_be_compiled<available(Options.target), Schedules.sorted()> checked{};

 public:
  using base::base;
};

}  // namespace ago
