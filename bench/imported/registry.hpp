// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of imported networks, with their own weights and the file they come from.
#pragma once

#include "../registry.hpp"

#include <map>

namespace bench {

/// The ONNX files by network name.
inline std::map<std::string, std::string>& model_files() {
  static std::map<std::string, std::string> all;
  return all;
}

template <class Program>
struct program_memory {
  alignas(64) float packed[Program::packed_floats + 1];  ///< + 1: packed_floats may be 0
  alignas(64) float arena[Program::arena_floats + 1];
};

/// A function that runs a program on concatenated inputs and outputs.
template <class Program>
std::function<void()> prepare_program(std::span<float const> parameters, float const* in, float* out,
                                      std::size_t displacement) {
  auto const memory = make_displaced<program_memory<Program>>(displacement);
  ago::runtime::prefer_large_pages(memory.get(), sizeof *memory);
  Program::pack(parameters.first<Program::parameter_count>(),
                std::span<float, Program::packed_floats>(memory->packed, Program::packed_floats));
  std::vector<float const*> inputs;
  std::vector<float*> outputs;
  for (int k = 0; k < Program::inputs; in += Program::input_size(k++)) inputs.push_back(in);
  for (int k = 0; k < Program::outputs; out += Program::output_size(k++)) outputs.push_back(out);
  return [=] { Program::run({memory->packed, memory->arena, inputs.data(), outputs.data()}); };
}

/// `weights`: the bytes that ago_import() links in.
template <auto const& Net>
bool add_imported(std::string name, std::string file, unsigned char const* weights) {
  using program = ago::program<Net>;
  variant const v{
      "ago",          program::target,         program::arena_bytes, program::weight_bytes, program::subgraphs,
      program::steps, prepare_program<program>};
  model_files()[name] = std::move(file);
  registry().push_back({std::move(name),
                        0,
                        ago::passes::optimized<Net>::value,
                        {v},
                        {reinterpret_cast<float const*>(weights), program::parameter_count}});
  return true;
}

}  // namespace bench
