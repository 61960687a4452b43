// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this program measures: networks at their sizes, and the ways in which they were compiled.
#pragma once

#include "graph_view.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// What one step does, and what passes through memory for it: values that enter and leave it, packed parameters.
struct step_account {
  std::string kernel, layers;  ///< "pointwise", "rows: pointwise, depthwise"; "14x14x64 > 14x14x384 relu6"
  long multiply_adds = 0;      ///< as the direct algorithm takes them
  long bytes = 0;              ///< read and written, each byte once
};

/// A network compiled with one set of choices.
struct variant {
  std::string name;
  ago::isa target{};
  std::size_t arena_bytes = 0, weight_bytes = 0;
  int subgraphs = 0, steps = 0;
  /// Packs the parameters, into memory that is displaced by so many bytes, a multiple of 64; what comes back runs the
  /// network from its inputs to its outputs. Of several, one lies behind the other.
  std::function<std::function<void()>(std::span<float const> parameters, float const* in, float* out,
                                      std::size_t displacement)>
      prepare;
  /// Likewise; what comes back runs one step. Not all programs have it.
  std::function<std::function<void(int)>(std::span<float const> parameters, float const* in, float* out)>
      prepare_steps{};
  std::vector<step_account> accounts{};  ///< of all steps, if it has prepare_steps
  bool is_first = false;                 ///< known to be the same program as the first variant
  int threads = 1;
};

/// A network at one input size.
struct entry {
  std::string network;
  int size = 0;
  graph_view graph;
  std::vector<variant> variants;
  std::span<float const> parameters{};  ///< trained ones; none: made from a seed
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
