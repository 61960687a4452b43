// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_graph.hpp"

#include <ago/plan/form_steps.hpp>
#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;
using namespace ago::plan;
using namespace plan_test;

namespace {

/// Input -> pointwise -> bias -> relu6 -> pointwise -> bias -> add(input), all in one mini-subgraph or each alone.
constexpr graph<7, 8> residual_block() {
  graph<7, 8> g{};
  op const kinds[] = {op::input, op::pointwise, op::bias, op::relu6, op::pointwise, op::bias, op::add};
  for (int v = 0; v < 7; ++v) {
    g.nodes[v] = {
        .kind = kinds[v], .out = {1, 4, 4, 8}, .input_first = g.edge_count, .input_count = v == 6 ? 2 : v > 0};
    if (v) g.edges[g.edge_count++] = v - 1;
    if (v == 6) g.edges[g.edge_count++] = 0;
  }
  g.node_count = 7, g.input_count = 1, g.output_count = 1, g.outputs[0] = 6;
  return g;
}

constexpr ordered_clusters<7> clusters(int const (&of)[7]) {
  ordered_clusters<7> p{};
  for (int v = 0; v < 7; ++v) p.of[v] = of[v];
  for (int v = 1; v < 7; ++v) p.order[p.operators++] = v;
  p.count = of[6] + 1;
  p.acyclic = true;
  return p;
}

}  // namespace

TEST_CASE("bias initialises the accumulators, and the elementwise operators that follow become the epilogue") {
  static constexpr auto g = residual_block();
  constexpr auto steps = form_steps(g, clusters({-1, 0, 0, 0, 1, 1, 1}), views_of(g));
  static_assert(steps.count == 2);
  constexpr step_nodes first = steps.step[0], second = steps.step[1];
  static_assert(first.main == 1 && first.bias == 2 && first.stage_count == 1 && first.stages[0] == 3 &&
                first.result == 3);
  static_assert(second.main == 4 && second.bias == 5 && second.stage_count == 1 && second.stages[0] == 6);
  static_assert(second.others[0] == 0 && second.result == 6 && second.source == 3);
}

TEST_CASE("a partition that separates an epilogue still gives a correct program, with more steps") {
  static constexpr auto g = residual_block();
  constexpr auto steps = form_steps(g, clusters({-1, 0, 1, 1, 2, 3, 4}), views_of(g));
  static_assert(steps.count == 5);
  static_assert(steps.step[1].main == -1 && steps.step[1].stage_count == 2 && steps.step[1].bias == -1);
  static_assert(steps.step[4].others[0] == 0 && steps.step[4].source == 5);
}

TEST_CASE("every operator of 3000 random graphs is computed by exactly one step") {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    graph_maker random(seed);
    test_graph const g = random.make();
    auto const steps = form_steps(g, any_partition(g, random, seed), views_of(g));
    int computed[40]{};
    for (int i = 0; i < steps.count; ++i) {
      step_nodes const& s = steps.step[i];
      if (s.piece_at > 0) continue;  // another piece of the same operator
      if (s.main >= 0) ++computed[s.main];
      if (s.bias >= 0) ++computed[s.bias];
      for (int k = 0; k < s.stage_count; ++k) ++computed[s.stages[k]];
      REQUIRE(s.stage_count <= max_stages);
    }
    for (int v = 0; v < g.node_count; ++v) {  // moved channels are read in place, or copied
      bool const exists = v < g.input_count || g.nodes[v].kind == op::constant;
      REQUIRE((computed[v] == !exists || (computed[v] == 0 && plan::moves_channels(g.nodes[v]))));
    }
  }
}

TEST_CASE("a value with two readers, and a network output, end an epilogue") {
  auto g = residual_block();
  g.output_count = 1;
  g.edges[g.nodes[6].input_first + 1] = 2;  // the add now reads the first bias
  auto const shared = form_steps(g, clusters({-1, 0, 0, 0, 0, 0, 0}), views_of(g));
  CHECK(shared.count == 3);
  CHECK(shared.step[0].result == 2);
  CHECK(shared.step[1].main == -1);

  graph<7, 8, 2> two{};
  for (int v = 0; v < 7; ++v) two.nodes[v] = residual_block().nodes[v];
  for (int e = 0; e < 7; ++e) two.edges[e] = residual_block().edges[e];
  two.node_count = 7, two.edge_count = 7, two.input_count = 1, two.output_count = 2, two.outputs[0] = 6,
  two.outputs[1] = 2;
  auto const given_out = form_steps(two, clusters({-1, 0, 0, 0, 0, 0, 0}), views_of(two));
  CHECK(given_out.step[0].result == 2);
}
