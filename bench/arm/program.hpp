// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network that a program in this folder is compiled for, its parameters and its input.
#pragma once

#include "../buffer.hpp"
#include "../graph_view.hpp"
#include "../parameters.hpp"

#include <ago/ago.hpp>
// The command line of the compiler gives the header in examples/networks and the network.
#include AGO_ARM_HEADER

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ruler {

inline constexpr auto const& network = networks::AGO_ARM_NETWORK;

/// Runs before the one that counts, so that caches and predictors are as in a loop of inferences.
inline constexpr int warm_runs = 2;

struct problem {
  bench::graph_view graph = ago::passes::optimized<network>::value;
  std::vector<float> parameters = bench::make_parameters(graph, 1);
  bench::buffer in{size(0, graph.input_count)}, out{output_size()};

  problem() { bench::make_inputs(graph, 2, in.span()); }

  /// Writes the results, so that those of different engines can be compared.
  void save_results(char const* path) const {
    std::FILE* const f = std::fopen(path, "wb");
    if (!f || std::fwrite(out.data(), sizeof(float), output_size(), f) != output_size() || std::fclose(f) != 0) {
      std::fprintf(stderr, "%s cannot be written\n", path);
      std::exit(EXIT_FAILURE);
    }
  }

 private:
  std::size_t size(int first, int count) const {
    std::size_t sum = 0;
    for (int v = first; v < first + count; ++v) sum += std::size_t(graph.node(v).out.count());
    return sum;
  }
  std::size_t output_size() const {
    std::size_t sum = 0;
    for (int const v : graph.outputs) sum += size(v, 1);
    return sum;
  }
};

}  // namespace ruler
