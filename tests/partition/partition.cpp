// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/partition/partition.hpp>

#include "oracle.hpp"
#include "random_network.hpp"

#include <doctest/doctest.h>

namespace {

using ago::op;
using groups = std::vector<int>;

/// Whether every operator occurs once, cluster by cluster in `order`, after its operands.
template <int V, int E, int O>
void check_order(ago::ir::graph<V, E, O> const& g, ago::partition::ordered_clusters<V> const& p) {
  REQUIRE(p.acyclic);
  REQUIRE(p.operators == g.node_count - g.input_count);
  for (int v = 0; v < g.input_count; ++v) REQUIRE(p.of[v] == -1);
  std::vector<int> when(g.node_count, -1);
  for (int i = 0; i < p.operators; ++i) {
    REQUIRE(when.at(p.order[i]) == -1);
    REQUIRE(p.order[i] >= g.input_count);
    when[p.order[i]] = i;
    if (i > 0) REQUIRE(p.of[p.order[i]] - p.of[p.order[i - 1]] <= 1);
    if (i > 0) REQUIRE(p.of[p.order[i]] >= p.of[p.order[i - 1]]);
  }
  if (p.operators > 0) {
    REQUIRE(p.of[p.order[0]] == 0);
    REQUIRE(p.of[p.order[p.operators - 1]] == p.count - 1);
  }
  for (int v = g.input_count; v < g.node_count; ++v)
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      if (g.operand(v, k) >= g.input_count) REQUIRE(when[g.operand(v, k)] < when[v]);
}

template <int V, int E, int O>
void check_both(ago::ir::graph<V, E, O> const& g, ago::partitions<V> const& p) {
  check_order(g, p.subgraphs);
  check_order(g, p.minis);
  for (int i = 0; i < p.minis.operators; ++i) REQUIRE(p.minis.order[i] == p.subgraphs.order[i]);
  for (int v = g.input_count; v < g.node_count; ++v)
    for (int u = g.input_count; u < v; ++u)
      if (p.minis.of[u] == p.minis.of[v]) REQUIRE(p.subgraphs.of[u] == p.subgraphs.of[v]);
}

constexpr auto two_blocks() {
  test::builder<30, 40> b;
  int x = b.bias_relu(b.pointwise(b.input({1, 14, 14, 8}), 16));
  x = b.inverted_residual(b.inverted_residual(x, 6), 6);
  b.output(x);
  return b.g;
}

TEST_CASE("inverted residuals are subgraphs: no triple is cut") {
  static constexpr auto g = two_blocks();
  static constexpr auto p = ago::partition::ago_partition(g);
  static_assert(p.subgraphs.acyclic && p.minis.acyclic);
  check_both(g, p);
  // Atoms weigh 79 (stem), then 152, 102, 127 per block; Td is 399. The stem plus a whole block exceeds it.
  CHECK(groups(p.subgraphs.of + 1, p.subgraphs.of + 22) ==
        groups{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(groups(p.minis.of + 1, p.minis.of + 22) ==
        groups{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6});
  for (int i = 0; i < 21; ++i) CHECK(p.minis.order[i] == i + 1);
  CHECK(p.subgraphs.of[0] == -1);
}

TEST_CASE("a partition at run time equals the partition at compile time") {
  static constexpr auto g = two_blocks();
  static constexpr auto expected = ago::partition::ago_partition(g, 300'000);
  auto copy = g;
  auto volatile limit = 300'000L;
  auto const p = ago::partition::ago_partition(copy, limit);
  for (int v = 0; v < g.node_count; ++v) {
    CHECK(p.subgraphs.of[v] == expected.subgraphs.of[v]);
    CHECK(p.minis.of[v] == expected.minis.of[v]);
    CHECK(p.minis.order[v] == expected.minis.order[v]);
  }
  CHECK(p.subgraphs.count == expected.subgraphs.count);
}

long limit_of(ago::ir::graph<30, 40> const& g) {
  auto const atoms = ago::partition::atoms_of(g);
  return ago::partition::default_limit(g, atoms, ago::partition::quotient(ago::partition::dag_of(g), atoms));
}

TEST_CASE("the default limit is 1.05 times the heaviest pointwise - depthwise - pointwise triple") {
  auto const g = two_blocks();
  long triple = 0;
  for (int v = 13; v < 22; ++v) triple += ago::partition::weight_of(g, v);
  CHECK(limit_of(g) == triple + triple / 20 + 1);

  using builder = test::builder<30, 40>;
  auto const expect_none = [](builder const& b) { CHECK(limit_of(b.g) == ago::partition::fallback_limit); };
  builder plain;
  plain.pointwise(plain.pointwise(plain.input({1, 14, 14, 8}), 16), 16);
  expect_none(plain);
  builder at_start;  // no pointwise before it
  at_start.pointwise(at_start.depthwise(at_start.input({1, 14, 14, 8})), 16);
  expect_none(at_start);
  builder read_twice;  // the depthwise result has to be stored
  int const y = read_twice.depthwise(read_twice.pointwise(read_twice.input({1, 14, 14, 8}), 16));
  read_twice.binary(op::add, read_twice.pointwise(y, 16), y);
  expect_none(read_twice);
  builder front_read_twice;
  int const f = front_read_twice.pointwise(front_read_twice.input({1, 14, 14, 8}), 16);
  front_read_twice.binary(op::add, front_read_twice.pointwise(front_read_twice.depthwise(f), 16), f);
  expect_none(front_read_twice);
  builder two_depthwise;
  two_depthwise.pointwise(two_depthwise.depthwise(two_depthwise.depthwise(two_depthwise.input({1, 14, 14, 8}))), 16);
  expect_none(two_depthwise);
}

TEST_CASE("a shuffle unit: the branch that includes the concat runs last") {
  test::builder<30, 40> b;
  int const x = b.input({1, 28, 28, 58});
  int left = b.bias_relu(b.pointwise(b.unary(op::bias, b.depthwise(x)), 58));
  int right = b.bias_relu(b.pointwise(x, 58));
  right = b.bias_relu(b.pointwise(b.unary(op::bias, b.depthwise(right)), 58));
  b.output(b.concat(left, right));
  auto const p = ago::partition::ago_partition(b.g);
  check_both(b.g, p);
  CHECK(groups(p.subgraphs.of + 1, p.subgraphs.of + 15) == groups{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(groups(p.minis.of + 1, p.minis.of + 15) == groups{3, 3, 4, 4, 4, 0, 0, 0, 1, 1, 2, 2, 2, 5});
  auto const alone = ago::partition::ago_partition(b.g, 1);
  check_both(b.g, alone);
  CHECK(alone.subgraphs.count == 6);
  auto const all = ago::partition::ago_partition(b.g, 1'000'000'000);
  check_both(b.g, all);
  CHECK(all.subgraphs.count == 1);
  CHECK(all.minis.count == 6);
}

TEST_CASE("graphs without operators, of one operator, and with unused capacity") {
  test::builder<30, 40> b;
  int const x = b.input({1, 4, 4, 8});
  b.output(x);
  auto const none = ago::partition::ago_partition(b.g);
  check_both(b.g, none);
  CHECK(none.subgraphs.count == 0);
  b.unary(op::relu, x);
  auto const one = ago::partition::ago_partition(b.g);
  check_both(b.g, one);
  CHECK(one.minis.count == 1);
}

/// Whether all members of each group of `inner` are in one group of `outer`.
bool keeps(groups const& inner, groups const& outer) {
  for (std::size_t v = 0; v < inner.size(); ++v)
    if (outer[v] != outer[std::size_t(inner[v])]) return false;
  return true;
}

TEST_CASE("partitions of random networks are complete and ordered, cut no atom or chain, and keep the limit") {
  test::random r(17);
  int chained = 0;
  for (int round = 0; round < 10'000; ++round) {
    int const operators = round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 1, 30);
    auto const g = round % 2 ? test::make_random_network(r, operators) : test::make_line(r, operators);
    auto const d = ago::partition::dag_of(g);
    long const total = std::accumulate(d.weight, d.weight + d.count, 0L);
    long const limit = round % 5 == 0 ? total + 1 : 1 + total / test::pick(r, 1, 20);
    auto const p = ago::partition::ago_partition(g, limit, true, {.l2_bytes = 16 << 10});
    CAPTURE(round);
    check_both(g, p);

    auto const of_operators = [&](int const* of) { return oracle::canonical({of + g.input_count, of + g.node_count}); };
    groups const atoms = oracle::view(ago::partition::atoms_of(g), d.count), subgraphs = of_operators(p.subgraphs.of);
    groups const chains = of_operators(p.chain_of);
    REQUIRE(of_operators(p.minis.of) == atoms);
    REQUIRE(keeps(atoms, chains));
    REQUIRE(keeps(chains, subgraphs));
    chained += chains != atoms;
    std::vector<long> weight(std::size_t(d.count));
    for (int v = 0; v < d.count; ++v) weight[std::size_t(subgraphs[std::size_t(v)])] += d.weight[v];
    for (int v = 0; v < d.count; ++v) {
      bool const is_cut = atoms[std::size_t(v)] != subgraphs[std::size_t(v)];  // another atom began the subgraph
      if (is_cut) REQUIRE(weight[std::size_t(subgraphs[std::size_t(v)])] < limit);
    }
    for (int i = 1; i < p.minis.operators; ++i)  // chains run without interruption
      for (int j = 0; j + 1 < i; ++j) {
        int const first = p.chain_of[p.minis.order[j]];
        if (first == p.chain_of[p.minis.order[i]]) REQUIRE(p.chain_of[p.minis.order[i - 1]] == first);
      }
  }
  CHECK(chained > 500);
}

TEST_CASE("the paper's own pipeline gives ordered partitions too") {
  test::random r(19);
  for (int round = 0; round < 2'000; ++round) {
    auto const g = test::make_random_network(r, test::pick(r, 1, 60));
    auto const d = ago::partition::dag_of(g);
    auto const subgraphs = ago::partition::cluster(d, test::pick(r, 1'000, 500'000));
    check_both(g, ago::partition::ordered(g, d, subgraphs, ago::partition::split_by_cluster(d, subgraphs)));
    check_both(g, ago::partition::ordered(g, d, subgraphs, ago::partition::split_by_epilogue(d, subgraphs)));
  }
}

TEST_CASE("clusters that wait for each other are reported, not ordered") {
  test::builder<30, 40> b;
  int const x = b.input({1, 4, 4, 8}), a = b.unary(op::relu, x), y = b.unary(op::relu, a);
  b.binary(op::add, a, y);
  ago::grouping<30> around{{0, 1, 0}, 2}, alone{{0, 1, 2}, 3};
  auto const d = ago::partition::dag_of(b.g);
  CHECK_FALSE(ago::partition::ordered(b.g, d, around, alone).subgraphs.acyclic);
  CHECK_FALSE(ago::partition::ordered(b.g, d, around, around).minis.acyclic);
  CHECK(ago::partition::ordered(b.g, d, alone, alone).minis.acyclic);
}

}  // namespace
