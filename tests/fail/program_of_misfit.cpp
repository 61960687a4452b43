// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of a network with a misfit: only the misfit is reported, and nothing wrong can be run.
// misfit: shapes_differ add 3 8 2
#include <ago/runtime/program.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int channels = 8;
#else
constexpr int channels = 2;
#endif

inline constexpr auto net = input{.h = 1, .w = 2, .c = 4} | pointwise{8}
                          | residual{pointwise{channels}}  // here
                          | softmax{};
using code = program<net>;

alignas(64) static float weights[code::packed_floats], arena[code::arena_floats], image[8], result[16];

void run(std::span<float const, code::parameter_count> blob) {
  code::pack(blob, std::span<float, code::packed_floats>(weights));
  float const* const inputs[] = {image};
  float* const outputs[] = {result};
  code::run({weights, arena, inputs, outputs});
}
