// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward and backward as a compiled program.
#pragma once

#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/nest/kernel.hpp>
#include <ago/learning/update_plan.hpp>
#include <ago/runtime/program.hpp>

#include <span>

namespace ago::learning {

/// The program of a training_step (storage::trained), with its parameters, packed weights and arena inside.
template <class Step, class Program>
class compiled_step {
 public:
  using program = Program;

  std::span<float, Program::parameter_count> parameters() noexcept { return parameters_; }
  /// The last of `inputs` are parameters().
  void run(float const* const* inputs, float* const* outputs) noexcept {
    for (int k = 0; k < Program::steps; ++k) run_step(k, inputs, outputs);
  }
  /// The same, but that gradients share memory; calls update(row, gradient) as soon as a gradient is there and nothing
  /// reads the old parameter any more.
  void run_and_update(float const* const* inputs, float** outputs, auto const& update) noexcept {
    updates.run(Program::steps, outputs, [&](int k) { run_step(k, inputs, outputs); }, update);
  }

 private:
  static constexpr auto updates = []() AGO_CONSTEVAL { return plan_updates(Program{}, Step::table, Step::rows); }();

  /// Packs the parameters that the step does not use as they are right before it: so they are in a cache, and need no
  /// memory of their own.
  void run_step(int k, float const* const* inputs, float* const* outputs) noexcept {
    Program::pack_step(k, parameters_, std::span<float, Program::packed_floats>(packed_, Program::packed_floats));
    Program::run_step(k, {packed_, arena_, inputs, outputs});
  }

  alignas(64) float parameters_[Program::parameter_count];
  alignas(64) float packed_[Program::packed_floats > 0 ? Program::packed_floats : 1] = {};
  alignas(64) float arena_[Program::arena_floats > 0 ? Program::arena_floats : 1];
};

}  // namespace ago::learning
