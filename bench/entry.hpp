// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this program measures: networks at each size, compiled in several ways.
#pragma once

#include "graph_view.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// The work of one step, and its memory traffic: input and output values and packed parameters.
struct step_account {
  std::string kernel, layers;   ///< "pointwise", "rows: pointwise, depthwise"; "14x14x64 > 14x14x384 relu6"
  long multiply_adds = 0;       ///< of the direct algorithm
  long bytes = 0;               ///< read and written, each counted once
  double predicted_cycles = 0;  ///< on a core with the caches of this machine's
  double moved_bytes = 0;       ///< into its L2 from beyond, by the plan
};

/// A network compiled with one set of choices.
struct variant {
  std::string name;
  ago::isa target{};
  std::size_t arena_bytes = 0, weight_bytes = 0;
  int subgraphs = 0, steps = 0;
  /// Packs the parameters into memory displaced by so many bytes, a multiple of 64. Returns a function that runs the
  /// network from its inputs to its outputs; several inputs or outputs are concatenated.
  std::function<std::function<void()>(std::span<float const> parameters, float const* in, float* out,
                                      std::size_t displacement)>
      prepare;
  /// Likewise; returns a function that runs one step. Not all programs have it.
  std::function<std::function<void(int)>(std::span<float const> parameters, float const* in, float* out)>
      prepare_steps{};
  std::vector<step_account> accounts{};  ///< of all steps, if it has prepare_steps
  double peak_per_cycle = 0;             ///< floating-point operations in a cycle, with its registers
  bool is_first = false;                 ///< the same program as the first variant
  int threads = 1;
};

/// The predicted time of so many cycles, in seconds. The clock follows from the peak that was measured in the same run,
/// in floating-point operations per second: processors change it, and a virtual machine does not tell it.
inline double predicted_seconds(variant const& v, double cycles, double peak) {
  return cycles * v.peak_per_cycle / peak;
}

/// A network at one input size.
struct entry {
  std::string network;
  int size = 0;
  graph_view graph;
  std::vector<variant> variants;
  std::span<float const> parameters{};  ///< trained; empty: made from a seed
};

/// All entries of this program, in no particular order.
inline std::vector<entry>& registry() {
  static std::vector<entry> all;
  return all;
}

/// All entries by name, large images first.
inline std::vector<entry const*> sorted_entries() {
  std::vector<entry const*> all;
  for (entry const& e : registry()) all.push_back(&e);
  std::sort(all.begin(), all.end(), [](entry const* x, entry const* y) {
    return x->network != y->network ? x->network < y->network : x->size > y->size;
  });
  return all;
}

}  // namespace bench
