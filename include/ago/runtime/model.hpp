// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The object that a user owns: packed weights and a workspace, both inside it, nothing on the heap.
#pragma once

#include <ago/network/check.hpp>
#include <ago/runtime/overlap.hpp>
#include <ago/runtime/program.hpp>
#include <ago/runtime/weights.hpp>

#include <limits>

namespace ago::runtime {

/// A span of run-time size, once for each element of a pack.
template <std::size_t, class T>
using dynamic = std::span<T>;

/// Scratch memory of one run.
template <std::size_t Floats>
struct workspace_of {
  alignas(64) float arena[Floats > 0 ? Floats : 1];
};

/// `I`, `O`: the numbers of inputs and outputs of the network; every call has one span of fixed extent for each.
template <class Program, class Weights, class Inputs, class Outputs>
class model_of;

template <class Program, class Weights, std::size_t... I, std::size_t... O>
class model_of<Program, Weights, std::index_sequence<I...>, std::index_sequence<O...>> : public Weights {
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

  /// Scratch memory of one run. Each thread that runs the model concurrently needs its own.
  using workspace = workspace_of<Program::arena_floats>;

  using Weights::Weights;
  model_of(model_of const&) = delete;
  model_of& operator=(model_of const&) = delete;

  /// Runs the network in the model's own workspace: one span for each input, then one for each output.
  void operator()(std::span<float const, Program::input_size(I)>... in,
                  std::span<float, Program::output_size(O)>... out) noexcept {
    run(own_, in..., out...);
  }
  /// The same; if the network is compiled for several threads, `team` computes the work items of each step.
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
  /// Runs in the caller's workspace. It accesses no other mutable state, so any number of threads can call it.
  void run(workspace& w, std::span<float const, Program::input_size(I)>... in,
           std::span<float, Program::output_size(O)>... out) const noexcept {
    float const* const inputs[] = {in.data()..., nullptr};
    float* const outputs[] = {out.data()..., nullptr};
    run_in(w, inputs, outputs);
  }
  template <runs_pieces Team>
  void run(workspace& w, std::span<float const, Program::input_size(I)>... in,
           std::span<float, Program::output_size(O)>... out, Team& team) const noexcept {
    float const* const inputs[] = {in.data()..., nullptr};
    float* const outputs[] = {out.data()..., nullptr};
    run_in(w, inputs, outputs, team);
  }

  /// Like operator(), with or without a team, for spans whose size is known only at run time. It also rejects outputs
  /// that share memory with inputs, with each other or with the model, which operator() does not check.
  template <runs_pieces... Team>
    requires(sizeof...(Team) <= 1)
  status try_run(dynamic<I, float const>... in, dynamic<O, float>... out, Team&... team) noexcept {
    return try_run_in(own_, in..., out..., team...);
  }
  /// Like run(), with or without a team, for spans whose size is known only at run time.
  template <runs_pieces... Team>
    requires(sizeof...(Team) <= 1)
  status try_run_in(workspace& w, dynamic<I, float const>... in, dynamic<O, float>... out,
                    Team&... team) const noexcept {
    if (!this->has_weights()) return status::no_weights;
    if (!((in.size() == Program::input_size(I)) && ...)) return status::wrong_input_size;
    if (!((out.size() == Program::output_size(O)) && ...)) return status::wrong_output_size;
    memory_range const inputs[] = {memory_range(in)...}, outputs[] = {memory_range(out)...};
    if (in_conflict(inputs, outputs, {&w, sizeof w}, {this, sizeof *this})) return status::buffers_overlap;
    run(w, in.template first<Program::input_size(I)>()..., out.template first<Program::output_size(O)>()..., team...);
    return status::ok;
  }

 private:
  /// Without weights every output is NaN.
  void run_in(workspace& w, float const* const* inputs, float* const* outputs, auto&... team) const noexcept {
    if (this->has_weights()) return Program::run({this->packed(), w.arena, inputs, outputs}, team...);
    for (std::size_t k = 0; k < sizeof...(O); ++k)
      for (std::size_t i = 0; i < Program::output_size(int(k)); ++i)
        outputs[k][i] = std::numeric_limits<float>::quiet_NaN();
  }

  workspace own_;
};

/// Replaces the model of a network with a misfit, so that no further errors hide the one that is reported.
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

/// What a model is: a program with its weights, or nothing if the network has a misfit.
template <auto const& Net, auto const& Schedules, options_for Options,
          bool Ok = lowering::misfit<Net>.what == fault::none && available(Options.target) && Schedules.sorted()>
struct choose_model {
  using type = no_model;
};
/// The program and its weights.
template <auto const& Net, auto const& Schedules, options_for Options>
struct choose_model<Net, Schedules, Options, true> {
  using program = ago::program<Net, Schedules, with_storage(Options, storage::own)>;
  using weights = std::conditional_t<Options.storage == storage::packed, weights_elsewhere<program>,
                                     own_weights<program, sizeof(workspace_of<program::arena_floats>)>>;
  using type = model_of<program, weights, std::make_index_sequence<std::size_t(program::inputs)>,
                        std::make_index_sequence<std::size_t(program::outputs)>>;
};

}  // namespace ago::runtime

namespace ago {

/// A network ready to run, compiled with `Options` (which can be just an instruction set or a policy). It is large,
/// because it contains its packed weights (except with ago::packed): make it `static`, or a member of a static
/// object. Construction and runs do not allocate, throw or print; construction asks the system for large pages. Inputs,
/// outputs and weights need no alignment and must not overlap; they are channel-last (NHWC) unless the network
/// specifies otherwise.
template <auto const& Net, auto const& Schedules = untuned, options_for Options = options{}>
class model : public runtime::choose_model<Net, Schedules, Options>::type {
  using base = typename runtime::choose_model<Net, Schedules, Options>::type;
  static constexpr lowering::network_fits<Net> layers_fit{};
  static constexpr runtime::has_schedules<Schedules.sorted()> sorted{};
  static constexpr runtime::can_be_compiled<available(Options.target)> compiled{};

 public:
  using base::base;
};

}  // namespace ago
