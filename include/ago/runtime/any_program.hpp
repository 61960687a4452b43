// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled program as a value, so that one function serves programs of all networks.
#pragma once

#include <ago/plan/step.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace ago::runtime {

/// All sizes are in floats.
struct any_program {
  std::vector<std::size_t> inputs, outputs;
  std::size_t parameter_count, packed_floats, arena_floats;
  void (*pack)(float const* weights, float* packed) noexcept;
  void (*run)(run_memory const&) noexcept;

  template <class Program>
  static any_program of() {
    any_program r{{},
                  {},
                  Program::parameter_count,
                  Program::packed_floats,
                  Program::arena_floats,
                  [](float const* weights, float* packed) noexcept {
                    Program::pack(std::span<float const, Program::parameter_count>(weights, Program::parameter_count),
                                  std::span<float, Program::packed_floats>(packed, Program::packed_floats));
                  },
                  [](run_memory const& m) noexcept { Program::run(m); }};
    for (int k = 0; k < Program::inputs; ++k) r.inputs.push_back(Program::input_size(k));
    for (int k = 0; k < Program::outputs; ++k) r.outputs.push_back(Program::output_size(k));
    return r;
  }
};

}  // namespace ago::runtime
