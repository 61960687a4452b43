// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled network as a value, so that a single comparison serves all networks.
#pragma once

#include <ago/ago.hpp>

#include <cstddef>

namespace ago::importer {

struct subject {
  char const* name;
  int inputs, outputs;
  std::size_t parameters, packed, arena;  ///< in floats
  std::size_t (*input_size)(int);
  std::size_t (*output_size)(int);
  void (*pack)(float const* weights, float* packed);
  void (*run)(plan::run_memory const&);
};

template <auto const& Net>
subject subject_of(char const* name) {
  using code = program<Net>;
  return {name,
          code::inputs,
          code::outputs,
          code::parameter_count,
          code::packed_floats,
          code::arena_floats,
          [](int k) { return code::input_size(k); },
          [](int k) { return code::output_size(k); },
          [](float const* weights, float* packed) {
            code::pack(std::span<float const, code::parameter_count>(weights, code::parameter_count),
                       std::span<float, code::packed_floats>(packed, code::packed_floats));
          },
          [](plan::run_memory const& memory) { code::run(memory); }};
}

/// Runs networks on stored inputs and compares with stored outputs. Arguments: --weights FILE and --data FOLDER for one
/// subject, or --cases FILE with a line for each run. Returns zero if everything agrees.
int compare(subject const* subjects, int count, int argc, char** argv);

}  // namespace ago::importer
