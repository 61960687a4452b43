// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property: a pass does not change the results of a graph.
#include <ago/passes/passes.hpp>

#include <doctest/doctest.h>

#include <string>

#include "executor.hpp"
#include "random_graph.hpp"
#include "same_values.hpp"
#include "support/rounds.hpp"

namespace {

using reference::run_time_graph;

void check_outputs_distinct(run_time_graph const& g) {
  for (int o = 0; o < g.output_count; ++o) {
    CHECK(g.outputs[o] >= g.input_count);
    for (int p = 0; p < o; ++p) CHECK(g.outputs[p] != g.outputs[o]);
  }
}

/// Runs the pass on many random graphs, and returns how many of them it changed.
template <class Pass>
int changed_by(Pass pass) {
  int changed = 0;
  for (unsigned seed = 0; int(seed) < test::rounds(750); ++seed) {
    CAPTURE(seed);
    reference::random_graph const made(seed);
    std::mt19937 random(seed);
    auto const parameters = reference::random_parameters(made, random);
    auto const inputs = reference::random_inputs(made.graph, random);
    run_time_graph const after = pass(made.graph);
    check_outputs_distinct(after);
    reference::check_same(reference::run(after, parameters, inputs), reference::run(made.graph, parameters, inputs));
    int folded = 0;
    for (int v = 0; v < after.node_count; ++v) folded += after.nodes[v].norm != made.graph.nodes[v].norm;
    changed += after.node_count != made.graph.node_count || folded > 0;
  }
  return changed;
}

}  // namespace

TEST_CASE("random graphs contain every operator") {
  int seen[int(ago::op::to_nchw) + 1]{};
  for (unsigned seed = 0; seed < 600; ++seed) {
    reference::random_graph const made(seed);
    for (int v = 0; v < made.graph.node_count; ++v) ++seen[int(made.graph.nodes[v].kind)];
  }
  for (int k = 0; k <= int(ago::op::identity); ++k) {
    CAPTURE(std::string(name_of(ago::op(k))));
    CHECK(seen[k] >= 30);
  }
}

TEST_CASE("dead code can be removed") {
  CHECK(changed_by([](run_time_graph const& g) { return ago::passes::dead_code(g); }) > test::rounds(150));
}

TEST_CASE("identities can be removed") {
  CHECK(changed_by([](run_time_graph const& g) { return ago::passes::remove_identities(g); }) > test::rounds(150));
}

TEST_CASE("equal values can be computed once") {
  CHECK(changed_by([](run_time_graph const& g) { return ago::passes::common_subexpressions(g); }) > test::rounds(150));
}

TEST_CASE("batch norm can be folded into the convolution before it") {
  CHECK(changed_by([](run_time_graph const& g) { return ago::passes::fold_batch_norm(g); }) > test::rounds(150));
}

TEST_CASE("all passes together, once and twice") {
  CHECK(changed_by([](run_time_graph const& g) { return ago::passes::optimize(g); }) > test::rounds(150));
  changed_by([](run_time_graph const& g) { return ago::passes::optimize(ago::passes::optimize(g)); });
}
