// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property: graphs in which operators are computed again compute the same values, and every kernel is one step.
#include <ago/partition/fault.hpp>
#include <ago/partition/opened.hpp>
#include <ago/plan/form_steps.hpp>

#include <doctest/doctest.h>

#include <memory>

#include "executor.hpp"
#include "random_graph.hpp"

namespace {

using reference::run_time_graph;

constexpr int room = reference::max_nodes, edges = reference::max_edges, outputs = reference::max_outputs;

/// A core that computes at no cost, so that everything is computed again that can be.
constexpr ago::device free_arithmetic() {
  ago::device d = ago::cortex_a55;
  d.multiply_adds = 1 << 20;
  return d;
}

}  // namespace

TEST_CASE("operators that are computed again give the same values, and no kernel writes a value inside it") {
  int again = 0, inside = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    reference::random_graph const made(seed);
    std::mt19937 random(seed);
    auto const parameters = reference::random_parameters(made, random);
    auto const inputs = reference::random_inputs(made.graph, random);
    auto const p = std::make_unique<ago::partition::partitioned_graph<room, edges, outputs>>([&] {
      auto const kernels = ago::partition::neoflow_kernels(made.graph, free_arithmetic());
      auto const r = ago::partition::recomputed<room, edges>(made.graph, kernels);
      return ago::partition::partitioned_graph<room, edges, outputs>{
          r.graph, ago::partition::neoflow_partition(r.graph, r.kernels, free_arithmetic())};
    }());
    REQUIRE(partition_fault_of(p->graph, p->partition) == ago::partition::partition_fault::none);
    REQUIRE(reference::run(p->graph, parameters, inputs) == reference::run(made.graph, parameters, inputs));
    again += p->graph.node_count - made.graph.node_count;

    auto const layouts = ago::plan::channel_layouts_of(p->graph);
    auto const steps = std::make_unique<ago::plan::step_list<4 * room + edges>>(ago::plan::form_steps<4 * room + edges>(
        p->graph, p->partition.minis, ago::plan::views_of(p->graph, layouts), layouts, p->partition.chain_of));
    auto const& minis = p->partition.minis;
    for (int i = 0; i + 1 < minis.operators; ++i) {
      int const v = minis.order[i];
      if (minis.of[v] != minis.of[minis.order[i + 1]]) continue;  // the kernel's result
      ++inside;
      for (int s = 0; s < steps->count; ++s) REQUIRE(steps->step[s].result != v);
    }
  }
  CHECK(again > 40);
  CHECK(inside > 1000);
}
