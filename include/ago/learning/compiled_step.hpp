// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward and backward as a compiled program.
#pragma once

#include <ago/kernel/contraction/kernel.hpp>
#include <ago/kernel/nest/kernel.hpp>
#include <ago/learning/update_times.hpp>
#include <ago/runtime/program.hpp>

#include <span>

namespace ago::learning {

/// The program of a training_step (storage::trained), with its parameters, packed weights and arena inside.
template <class Step, class Program>
class compiled_step {
 public:
  using program = Program;

  std::span<float, Program::parameter_count> parameters() noexcept { return parameters_; }
  /// Runs, and packs the parameters that a step does not use as they are right before it: so they are in a cache, and
  /// need no memory of their own. The last of `inputs` are parameters(). Calls update(row) as soon as the gradient is
  /// there and nothing reads the old parameter any more.
  void run(float const* const* inputs, float* const* outputs, auto const& update) noexcept {
    int updated = 0;
    for (int k = 0; k < Program::steps; ++k) {
      Program::pack_step(k, parameters_, std::span<float, Program::packed_floats>(packed_, Program::packed_floats));
      Program::run_step(k, {packed_, arena_, inputs, outputs});
      times.for_each_after(k, updated, update);
    }
  }

 private:
  static constexpr auto times = []() AGO_CONSTEVAL { return update_times_of(Program{}, Step::table, Step::rows); }();

  alignas(64) float parameters_[Program::parameter_count];
  alignas(64) float packed_[Program::packed_floats > 0 ? Program::packed_floats : 1] = {};
  alignas(64) float arena_[Program::arena_floats > 0 ? Program::arena_floats : 1];
};

}  // namespace ago::learning
