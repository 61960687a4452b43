// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks results with plain loops in double precision: those of the tests, which share no code with the kernels.
#pragma once

#include "contest.hpp"

#include <reference/executor.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace bench {

/// The difference() between `actual` and the reference results of a small network.
inline double distance_from_loops(graph_view const& view, std::span<float const> parameters,
                                  std::span<float const> input, std::span<float const> actual) {
  constexpr int capacity = 16;
  ago::ir::graph<capacity, capacity> graph;
  if (view.size() > capacity || view.input_count != 1 || view.outputs.size() != 1)
    throw std::logic_error("plain loops are for small networks with one input and one output");
  graph.node_count = view.size();
  std::copy(view.nodes.begin(), view.nodes.end(), graph.nodes);
  std::copy(view.edges.begin(), view.edges.end(), graph.edges);
  graph.outputs[0] = view.outputs[0];
  graph.output_count = graph.input_count = 1;
  graph.parameters = view.parameters;
  std::vector<double> const exact = reference::run(graph, parameters, {{input.begin(), input.end()}}).front();
  std::vector<float> const expected(exact.begin(), exact.end());
  return difference(expected, actual);
}

/// Checks the first contestant, which the others have been compared with; reports a difference.
inline bool agrees_with_loops(contest const& c, entry const& e) {
  contestant const& first = c.contestants().front();
  double const distance = distance_from_loops(e.graph, c.parameters(), c.input(), first.out.span());
  if (distance <= tolerance) return true;
  std::fprintf(stderr, "%s: %s and plain loops do not agree: difference %g of the largest output\n", e.network.c_str(),
               first.name.c_str(), distance);
  return false;
}

}  // namespace bench
