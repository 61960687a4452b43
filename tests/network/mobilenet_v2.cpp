// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MobileNet-V2 after tracing: sizes, shapes, and the operators after the passes.
#include <ago/network/check.hpp>
#include <ago/network/parameters.hpp>
#include <ago/passes/optimized.hpp>
#include <networks/mobilenet_v2.hpp>

#include <algorithm>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;
using networks::mobilenet_v2;

namespace {

template <int V, int E, int O>
long multiplications(graph<V, E, O> const& g) {
  long sum = 0;
  for (int v = 0; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    if (has_weights(n.kind)) sum += n.out.count() * n.win.kernel_h * n.win.kernel_w * (g.source(v).out.c / n.groups);
  }
  return sum;
}

template <int V, int E, int O>
int count(graph<V, E, O> const& g, op kind) {
  int n = 0;
  for (int v = 0; v < g.node_count; ++v) n += g.nodes[v].kind == kind;
  return n;
}

}  // namespace

TEST_CASE("MobileNet-V2 has torchvision's parameters") {
  int trained = 0, statistics = 0;
  for (parameter const& p : parameters<mobilenet_v2<224>>)
    (p.role == role::mean || p.role == role::variance ? statistics : trained) += p.count();
  CHECK(trained == 3'504'872);
  CHECK(statistics == 34'112);
  CHECK(parameter_count<mobilenet_v2<224>> == 3'538'984);
  CHECK(parameter_count<mobilenet_v2<56>> == 3'538'984);
  CHECK(lowering::check<mobilenet_v2<224>>::ok);
}

TEST_CASE("MobileNet-V2 at 224 pixels takes 300.8 million multiplications") {
  CHECK(multiplications(lowering::lowered<mobilenet_v2<224>>::value) == 300'774'272);
  CHECK(multiplications(optimized<mobilenet_v2<224>>::value) == 300'774'272);
}

TEST_CASE("MobileNet-V2's features shrink by 32 at every size") {
  auto const features = [](auto const& g) {
    for (int v = 0; v < g.node_count; ++v)
      if (g.nodes[v].kind == op::global_avg_pool) return g.source(v).out;
    return shape{};
  };
  CHECK(features(lowering::lowered<mobilenet_v2<56>>::value) == shape{1, 2, 2, 1280});
  CHECK(features(lowering::lowered<mobilenet_v2<112>>::value) == shape{1, 4, 4, 1280});
  CHECK(features(lowering::lowered<mobilenet_v2<224>>::value) == shape{1, 7, 7, 1280});
}

TEST_CASE("after the passes MobileNet-V2 has 152 operators, none of them a batch norm") {
  auto const& g = optimized<mobilenet_v2<224>>::value;
  CHECK(g.node_count == 1 + 152);
  CHECK(g.node_capacity == g.node_count);
  CHECK(g.edge_capacity == g.edge_count);
  CHECK(count(g, op::conv2d) == 1);
  CHECK(count(g, op::depthwise) == 17);
  CHECK(count(g, op::pointwise) == 34);
  CHECK(count(g, op::linear) == 1);
  CHECK(count(g, op::bias) == 53);
  CHECK(count(g, op::relu6) == 35);
  CHECK(count(g, op::add) == 10);
  CHECK(count(g, op::global_avg_pool) == 1);
  CHECK(count(g, op::batch_norm) == 0);
  CHECK(g.nodes[g.outputs[0]].out == shape{1, 1, 1, 1000});
}

TEST_CASE("passes in an evaluation for each round give the same graph") {
  static constexpr auto const& recorded = lowering::lowered<mobilenet_v2<32>>::value;
  auto const& once = passes::simplified<mobilenet_v2<32>, algebra::exact>::result;
  constexpr auto rounds = passes::optimized_in_rounds<recorded, algebra::exact>::result();
  CHECK(once.applied.total() == rounds.applied.total());
  REQUIRE(once.graph.node_count == rounds.graph.node_count);
  CHECK(rounds.graph.node_count < recorded.node_count);
  CHECK(std::equal(once.graph.edges, once.graph.edges + once.graph.edge_count, rounds.graph.edges));
  for (int v = 0; v < once.graph.node_count; ++v)
    CHECK(passes::same_operator(once.graph.nodes[v], rounds.graph.nodes[v]));
}
