// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property: compound operators compute the same when opened, closed, and partly closed.
#include <ago/partition/opened.hpp>
#include <ago/simd/map.hpp>
#include <ago/simd/math.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "executor.hpp"
#include "functions.hpp"
#include "random_graph.hpp"
#include "same_values.hpp"

namespace {

using ago::op;
using reference::run_time_graph;

constexpr int room = reference::max_nodes, edges = reference::max_edges, outputs = reference::max_outputs;
using opened_graph = ago::passes::opened_graph<room, edges, outputs>;

/// Constants such as 0.7071... are floats.
constexpr double rounded_constants = 1e-6;

struct run {
  reference::random_graph made;
  std::vector<float> parameters;
  std::vector<std::vector<double>> expected;
  std::vector<std::vector<float>> inputs;

  explicit run(unsigned seed) : made(seed) {
    std::mt19937 random(seed);
    parameters = reference::random_parameters(made, random);
    inputs = reference::random_inputs(made.graph, random);
    expected = reference::run(made.graph, parameters, inputs);
  }
  void check(run_time_graph const& g) const {
    reference::check_same(reference::run(g, parameters, inputs), expected, rounded_constants);
  }
};

/// The number of nodes of each kind.
void count(run_time_graph const& g, int* kinds) {
  for (int v = 0; v < g.node_count; ++v) ++kinds[int(g.nodes[v].kind)];
}

constexpr op compounds[] = {op::softmax, op::layer_norm, op::gelu, op::gelu_tanh, op::silu, op::hard_swish};

}  // namespace

TEST_CASE("opened graphs compute the same, and have no compound operators") {
  reference::define_functions();
  int before[256]{}, after[256]{};
  for (unsigned seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    run const r(seed);
    auto const all = std::make_unique<opened_graph>(ago::passes::opened<room, edges>(r.made.graph, {}));
    ago::ir::graph_size const size = ago::passes::size_of_opened(r.made.graph, {});
    REQUIRE(all->graph.node_count == size.nodes);
    REQUIRE(all->graph.edge_count <= size.edges);
    r.check(all->graph);
    count(r.made.graph, before);
    count(all->graph, after);
  }
  for (op const kind : compounds) {
    CAPTURE(std::string(name_of(kind)));
    CHECK(before[int(kind)] > 50);
    CHECK(after[int(kind)] == 0);
  }
}

TEST_CASE("operators stay closed if requested") {
  int before[256]{}, after[256]{};
  for (unsigned seed = 0; seed < 100; ++seed) {
    reference::random_graph const made(seed);
    count(made.graph, before);
    count(ago::passes::opened<room, edges>(made.graph, {.softmax = false, .activations = false}).graph, after);
  }
  for (op const kind : compounds) CHECK(after[int(kind)] == (kind == op::layer_norm ? 0 : before[int(kind)]));
}

TEST_CASE("operators that a policy did not separate are closed again; separated ones compute the same") {
  reference::define_functions();
  int torn = 0, closed = 0;
  auto const check = [&]<class P>() {
    for (unsigned seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      run const r(seed);
      auto const& g = r.made.graph;
      auto const all =
          std::make_unique<opened_graph>(ago::passes::opened<room, edges>(g, ago::partition::opened_by<P>));
      auto const p = std::make_unique<ago::partition::partitioned_graph<room, edges, outputs>>(
          ago::partition::partition_opened<P, room, edges>(g));
      auto const& minis = p->partition.minis;
      REQUIRE(minis.acyclic);
      REQUIRE(p->partition.subgraphs.acyclic);
      REQUIRE(minis.operators == p->graph.node_count - g.input_count);
      r.check(p->graph);

      auto const whole = ago::partition::partition_primitives<P>(g, *all, {});
      CHECK(minis.count == whole.minis.count);
      CHECK(p->partition.subgraphs.count == whole.subgraphs.count);
      int expected = g.node_count;
      for (int i = g.input_count; i < all->graph.node_count;) {
        int last = i;
        bool one = true;
        while (last + 1 < all->graph.node_count && all->compound[last + 1] == all->compound[i]) {
          ++last;
          one = one && whole.minis.of[last] == whole.minis.of[i];
        }
        if (!one) expected += last - i;
        (one ? closed : torn) += last > i;
        i = last + 1;
      }
      CHECK(p->graph.node_count == expected);
    }
  };
  check.operator()<ago::partition::apollo_policy>();
  check.operator()<ago::partition::fuse_ops_policy>();
  check.operator()<ago::partition::paper_adjacent_policy>();
  CHECK(torn > 50);
  CHECK(closed > 200);
}

TEST_CASE("the policies of AGO open nothing") {
  reference::random_graph const made(1);
  CHECK(!ago::partition::opens_any<ago::partition::ago_policy>(made.graph));
  CHECK(!ago::partition::opens_any<ago::partition::ago_ni_policy>(made.graph));
}
