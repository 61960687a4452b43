// What must hold of every policy's partition of every network. AGO_ROUNDS, if set: how many random ones are tried.
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace {

using ago::op;
using ago::policy;
using groups = std::vector<int>;

/// Every operator once, cluster by cluster, after its operands.
void check_order(test::random_graph const& g, ago::partition<160> const& p) {
  REQUIRE(p.acyclic);
  REQUIRE(p.operators == g.node_count - g.input_count);
  groups when(std::size_t(g.node_count), -1);
  for (int i = 0; i < p.operators; ++i) {
    int const v = p.order[i];
    REQUIRE((v >= g.input_count && when.at(std::size_t(v)) == -1));
    when[std::size_t(v)] = i;
    int const step = i > 0 ? p.of[v] - p.of[p.order[i - 1]] : p.of[v];
    REQUIRE((step == 0 || (i > 0 && step == 1)));
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      REQUIRE((g.operand(v, k) < g.input_count || when[std::size_t(g.operand(v, k))] >= 0));
  }
}

/// Mini-subgraphs lie in subgraphs, and have at most one complex operator; chains lie in subgraphs too.
void check_nesting(test::random_graph const& g, ago::partitions<160> const& p) {
  groups outer(160, -1), complex(160), chain(160, -1);
  for (int v = g.input_count; v < g.node_count; ++v) {
    int const mini = p.minis.of[v], subgraph = p.subgraphs.of[v], c = p.chain_of[v];
    if (outer[mini] < 0) outer[mini] = subgraph;
    REQUIRE(outer[mini] == subgraph);
    complex[mini] += ago::is_complex(g.nodes[v].kind);
    REQUIRE(complex[mini] <= 1);
    REQUIRE((c >= 0 && c < 160));
    if (chain[c] < 0) chain[c] = subgraph;
    REQUIRE(chain[c] == subgraph);
  }
}

TEST_CASE("partitions of random networks by every policy are acyclic, complete and nested") {
  char const* const wish = std::getenv("AGO_ROUNDS");
  int const rounds = wish ? std::atoi(wish) : 4'000;
  test::random r(71);
  for (int round = 0; round < rounds; ++round) {
    auto const g = test::make_random_network(r, round % 10 == 0 ? test::pick(r, 60, 150) : test::pick(r, 1, 40));
    auto const n = oracle::view(dag_of(g));
    long saved[ago::policies]{};
    for (int i = 0; i < ago::policies; ++i) {
      auto const p = partition_by(policy(i), g);
      std::string const name = name_of(policy(i));
      CAPTURE(name);
      CAPTURE(round);
      check_order(g, p.subgraphs);
      check_order(g, p.minis);
      check_nesting(g, p);
      REQUIRE(oracle::acyclic(n, groups(p.subgraphs.of + g.input_count, p.subgraphs.of + g.node_count)));
      REQUIRE(oracle::acyclic(n, groups(p.minis.of + g.input_count, p.minis.of + g.node_count)));
      saved[i] = statistics_of(g, p.subgraphs).bytes_removed;
    }
    CAPTURE(round);
    REQUIRE(saved[int(policy::ago)] >= saved[int(policy::fuse_ops)]);
  }
}

TEST_CASE("the paper's chains join what its mini-subgraphs hold, in one subgraph only") {
  test::builder<30, 40> b;
  int x = b.input({1, 56, 56, 24});
  for (int i = 0; i < 2; ++i) x = b.inverted_residual(x, 6);
  b.output(x);
  auto const all = paper_partition(b.g, ago::affix::component, 1'000'000'000);
  CHECK(all.subgraphs.count == 1);
  auto const is_chained = [](ago::partitions<30> const& p, int a, int c) { return p.chain_of[a] == p.chain_of[c]; };
  CHECK((is_chained(all, 4, 7) || is_chained(all, 1, 4)));  // depthwise with one of its pointwise neighbours
  auto const none = paper_partition(b.g, ago::affix::component, 1);
  CHECK(none.subgraphs.count == b.g.node_count - 1);
  for (int v = 1; v < b.g.node_count; ++v)
    for (int u = 1; u < v; ++u) CHECK_FALSE(is_chained(none, u, v));
}

// The literal affix set on networks of the size of a MobileViT whose attention is spelt out, during compilation.
using builder = test::builder<701, 1'500>;
constexpr ago::shape image{1, 14, 14, 96};

constexpr auto inverted_residuals() {
  return test::grown<builder>(image, 690, [](builder& b, int x) { return b.inverted_residual(x, 6); });
}

constexpr auto shuffle_units() {
  return test::grown<builder>(image, 686, [](builder& b, int x) { return b.shuffle_unit(x); });
}

constexpr auto transformers() {
  builder b;
  int const start = b.unary(op::gelu, b.input(image));
  int x = start;
  while (b.g.node_count < 674) {
    int const n = b.unary(op::batch_norm, x);
    int const q = b.unary(op::bias, b.pointwise(n, 96)), k = b.unary(op::bias, b.pointwise(n, 96));
    int const v = b.unary(op::bias, b.pointwise(n, 96));
    x = b.binary(op::add, x, b.binary(op::mul, b.unary(op::sigmoid, b.binary(op::mul, q, k)), v));
    int const h = b.unary(op::gelu, b.unary(op::bias, b.pointwise(b.unary(op::batch_norm, x), 384)));
    x = b.binary(op::add, x, b.unary(op::bias, b.pointwise(h, 96)));
  }
  b.output(b.binary(op::add, x, start));
  return b.g;
}

template <auto const& Graph>
struct literally {
  static constexpr auto parts = ago::paper_partition(Graph);
  static_assert(Graph.node_count > 685 && parts.subgraphs.acyclic && parts.minis.acyclic);
};

constexpr auto residual_network = inverted_residuals();
constexpr auto shuffle_network = shuffle_units();
constexpr auto transformer_network = transformers();
static_assert(literally<residual_network>::parts.subgraphs.count > 1);
static_assert(literally<shuffle_network>::parts.subgraphs.count > 1);
static_assert(literally<transformer_network>::parts.subgraphs.count > 1);

}  // namespace
