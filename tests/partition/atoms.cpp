// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/atoms.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using groups = std::vector<int>;

template <int V, int E, int O>
groups atoms(ago::ir::graph<V, E, O> const& g) {
  return oracle::view(ago::partition::atoms_of(g), g.node_count - g.input_count);
}

template <int O = 1>
struct net : test::builder<40, 80, O> {
  int x = this->input({1, 14, 14, 16});
};

TEST_CASE("a complex operator keeps its bias, norm and activation") {
  net b;
  b.bias_relu(b.unary(op::batch_norm, b.unary(op::bias, b.pointwise(b.x, 32))));
  CHECK(atoms(b.g) == groups{0, 0, 0, 0, 0});
}

TEST_CASE("an inverted residual has three atoms, and the residual belongs to the last") {
  net b;
  b.inverted_residual(b.x, 6);
  CHECK(atoms(b.g) == groups{0, 0, 0, 3, 3, 3, 6, 6, 6});
}

TEST_CASE("a value with a second reader ends the chain") {
  net b;
  int const y = b.unary(op::bias, b.pointwise(b.x, 16));
  b.binary(op::add, b.unary(op::relu, b.depthwise(y)), y);
  CHECK(atoms(b.g) == groups{0, 0, 2, 2, 2});
}

TEST_CASE("a network output ends the chain, because it has to be stored") {
  net b;
  int const y = b.unary(op::bias, b.pointwise(b.x, 16));
  b.output(y);
  b.unary(op::relu, y);
  CHECK(atoms(b.g) == groups{0, 0, 2});
}

TEST_CASE("a value times itself ends the chain: the kernel would have to load a value that it has not stored") {
  net b;
  int const y = b.pointwise(b.x, 16);
  b.binary(op::mul, y, y);
  CHECK(atoms(b.g) == groups{0, 1});
}

TEST_CASE("of two producers, the later one takes a sum, whatever the order of the operands") {
  for (bool swapped : {false, true}) {
    net b;
    int const early = b.pointwise(b.x, 16), late = b.depthwise(b.x);
    b.unary(op::relu, swapped ? b.binary(op::add, late, early) : b.binary(op::add, early, late));
    CHECK(atoms(b.g) == groups{0, 1, 1, 1});
  }
}

TEST_CASE("the earlier producer takes a sum when the later one cannot") {
  net b;
  int const early = b.pointwise(b.x, 16), late = b.depthwise(b.x);
  b.binary(op::add, b.binary(op::mul, early, late), late);
  CHECK(atoms(b.g) == groups{0, 1, 0, 0});
}

TEST_CASE("a gate of one pixel does not take the product, which is an image") {
  net b;
  int const y = b.bias_relu(b.pointwise(b.x, 16));
  int const pooled = b.add({.kind = op::global_avg_pool, .out = {1, 1, 1, 16}}, {y});
  int const gate = b.unary(op::hard_sigmoid, b.add({.kind = op::linear, .out = {1, 1, 1, 16}}, {pooled}));
  b.binary(op::mul, y, gate);
  CHECK(atoms(b.g) == groups{0, 0, 0, 3, 4, 4, 6});
}

TEST_CASE("an epilogue holds six operators, in addition to a bias of the complex operator") {
  for (bool bias : {false, true}) {
    net b;
    int y = b.pointwise(b.x, 16);
    if (bias) y = b.unary(op::bias, y);
    for (int i = 0; i < 8; ++i) y = b.unary(op::relu, y);
    int const first = 1 + bias;
    auto const a = atoms(b.g);
    for (int i = 0; i < 8; ++i) CHECK(a[first + i] == (i < 6 ? 0 : first + 6));
  }
  net b;  // only a bias that comes first is free
  int y = b.unary(op::relu, b.pointwise(b.x, 16));
  for (int i = 0; i < 6; ++i) y = b.unary(op::bias, y);
  CHECK(atoms(b.g) == groups{0, 0, 0, 0, 0, 0, 0, 7});
}

TEST_CASE("pooling has an epilogue, a run of elementwise operators is one atom of at most six") {
  net b;
  int y = b.add({.kind = op::max_pool, .out = {1, 7, 7, 16}, .win = {.kernel_h = 2, .kernel_w = 2}}, {b.x});
  y = b.unary(op::bias, y);
  for (int i = 0; i < 5; ++i) y = b.unary(op::relu, y);
  CHECK(atoms(b.g) == groups{0, 0, 0, 0, 0, 0, 0});
  b.unary(op::relu, y);
  CHECK(atoms(b.g) == groups{0, 0, 0, 0, 0, 0, 0, 7});

  net run;
  y = run.x;
  for (int i = 0; i < 8; ++i) y = run.unary(op::tanh, y);
  CHECK(atoms(run.g) == groups{0, 0, 0, 0, 0, 0, 6, 6});
}

TEST_CASE("concat and changes of layout are atoms of their own") {
  net b;
  int const y = b.unary(op::relu, b.unary(op::from_nchw, b.x));
  int const z = b.unary(op::relu, b.concat(y, y));
  b.unary(op::to_nchw, z);
  CHECK(atoms(b.g) == groups{0, 1, 2, 3, 4});
}

/// Whether the kernel of the first member of the chain that ends in `v` still applies `next`.
bool takes(test::random_graph const& g, groups const& members, int v, int next) {
  int reads =
      int(std::count(g.edges, g.edges + g.edge_count, v) + std::count(g.outputs, g.outputs + g.output_count, v));
  op const head = g.nodes[members[0]].kind, tail = g.nodes[v].kind;
  bool const alone = head == op::concat || head == op::from_nchw || head == op::to_nchw || head == op::constant;
  if (alone || reads != 1) return false;
  if (!(g.nodes[v].out == g.nodes[next].out)) return false;
  auto const held = [&](int i) {
    op const kind = g.nodes[members[i]].kind;
    return ago::ir::is_elementwise(kind) && !(i == 1 && kind == op::bias && ago::ir::has_weights(head));
  };
  int stages = 0;
  for (int i = 0; i < int(members.size()); ++i) stages += held(i);
  return stages < 6 || (ago::ir::has_weights(tail) && g.nodes[next].kind == op::bias);
}

TEST_CASE("atoms equal a straightforward version's, are acyclic, and have at most one complex operator, the first") {
  test::random r(13);
  int longest = 0;
  for (int round = 0; round < 30'000; ++round) {
    auto const g = test::make_random_network(r, round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 1, 30));
    std::vector<groups> members;  // nodes of g
    std::vector<int> home(g.node_count, -1);
    for (int v = g.input_count; v < g.node_count; ++v) {
      int best = -1;
      if (ago::ir::is_elementwise(g.nodes[v].kind))
        for (int k = 0; k < g.nodes[v].input_count; ++k) {
          int const u = g.operand(v, k);
          if (home[u] >= 0 && members[home[u]].back() == u && takes(g, members[home[u]], u, v))
            best = std::max(best, u);
        }
      home[v] = best < 0 ? int(members.size()) : home[best];
      if (best < 0) members.emplace_back();
      members[home[v]].push_back(v);
    }
    auto const found = ago::partition::atoms_of(g);
    int const count = g.node_count - g.input_count;
    CAPTURE(round);
    REQUIRE(oracle::view(found, count) == oracle::canonical({home.begin() + g.input_count, home.end()}));
    REQUIRE(found.count == int(members.size()));
    REQUIRE(oracle::acyclic(oracle::view(ago::partition::dag_of(g)), {found.of, found.of + count}));
    for (auto const& m : members) {
      longest = std::max(longest, int(m.size()));
      for (std::size_t i = 1; i < m.size(); ++i) REQUIRE(ago::ir::is_elementwise(g.nodes[m[i]].kind));
    }
  }
  CHECK(longest >= 7);
}

}  // namespace
