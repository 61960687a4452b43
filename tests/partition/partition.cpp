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
  static constexpr auto p = ago::partition::ago_partition(g, 400'000);
  static_assert(p.subgraphs.acyclic && p.minis.acyclic);
  check_both(g, p);
  // Atoms weigh 79 (stem), then 152, 102, 127 per block. The stem plus a whole block exceeds the limit.
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

TEST_CASE("without a limit, Td is what was measured, or the weight of a heavier chain, which is not cut") {
  using ago::partition::default_limit;
  auto const limit_of = [](test::builder<30, 40> const& b) {
    auto const atoms = ago::partition::atoms_of(b.g);
    return limit_for(quotient(ago::partition::dag_of(b.g), atoms), chain_values_of(b.g, atoms, {}));
  };
  auto const block = [](int pixels, int channels) {
    test::builder<30, 40> b;
    b.output(b.inverted_residual(b.bias_relu(b.pointwise(b.input({64, pixels, pixels, channels}), channels)), 6));
    return b;
  };
  auto const light = block(14, 8), heavy = block(1000, 400);
  CHECK(limit_of(light) == default_limit);
  long triple = 1;
  for (int v = 4; v < 13; ++v) triple += ago::partition::weight_of(heavy.g, v);
  REQUIRE(triple > default_limit);
  CHECK(limit_of(heavy) == triple);
  auto const p = ago::partition::ago_partition(heavy.g);
  check_both(heavy.g, p);
  CHECK(p.subgraphs.of[4] == p.subgraphs.of[12]);  // the whole block, but not what is before it
  CHECK(p.subgraphs.of[1] != p.subgraphs.of[4]);
  test::builder<30, 40> no_chain;  // as heavy, but its values have two readers
  int const x = no_chain.pointwise(no_chain.input({64, 1000, 1000, 400}), 400), y = no_chain.depthwise(x);
  no_chain.output(no_chain.binary(op::add, no_chain.binary(op::add, y, x), no_chain.pointwise(y, 400)));
  CHECK(limit_of(no_chain) == default_limit);
}

TEST_CASE("a shuffle unit: the branch that includes the concat runs last") {
  test::builder<30, 40> b;
  int const x = b.input({1, 28, 28, 58});
  int left = b.bias_relu(b.pointwise(b.unary(op::bias, b.depthwise(x)), 58));
  int right = b.bias_relu(b.pointwise(x, 58));
  right = b.bias_relu(b.pointwise(b.unary(op::bias, b.depthwise(right)), 58));
  b.output(b.concat(left, right));
  long triple = 1;  // that of the right branch
  for (int v = 6; v < 14; ++v) triple += ago::partition::weight_of(b.g, v);
  auto const p = ago::partition::ago_partition(b.g, triple);
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
