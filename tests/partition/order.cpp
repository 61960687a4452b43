// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graphs.hpp"
#include "oracle.hpp"

#include <ago/partition/stage.hpp>

#include <doctest/doctest.h>

namespace {

using test::make_dag;

TEST_CASE("a stage is the longest path from any root") {
  auto const d = make_dag<5, 4>({1, 1, 1, 1, 1}, {{}, {}, {0, 3}, {1}, {2}});
  auto const s = ago::partition::stages_of(d);
  CHECK(std::vector(s.of, s.of + 5) == std::vector{1, 1, 3, 2, 4});
}

TEST_CASE("a graph recorded in execution order keeps it") {
  auto const d = make_dag<4, 2>({1, 1, 1, 1}, {{}, {}, {0}, {1}});
  auto const o = ago::partition::order_of(d);
  CHECK(o.acyclic);
  CHECK(std::vector(o.order, o.order + 4) == std::vector{0, 1, 2, 3});
}

TEST_CASE("the smallest rank runs first, then the smallest number") {
  auto const d = make_dag<4, 2>({1, 1, 1, 1}, {{}, {}, {0}, {1}});
  int const rank[] = {1, 0, 1, 0};
  auto const o = ago::partition::order_of(d, rank);
  CHECK(std::vector(o.order, o.order + 4) == std::vector{1, 3, 0, 2});
}

TEST_CASE("cycles are found") {
  auto const triangle = make_dag<4, 4>({1, 1, 1, 1}, {{}, {0, 3}, {1}, {2}});
  CHECK_FALSE(ago::partition::order_of(triangle).acyclic);
  CHECK(ago::partition::order_of(triangle).count == 1);
  auto const diamond = make_dag<4, 4>({1, 1, 1, 1}, {{}, {0}, {0}, {1, 2}});
  CHECK_FALSE(ago::partition::is_acyclic(diamond, ago::grouping<4>{{0, 1, 0, 0}, 2}));  // 0 and 3 around 1
  CHECK(ago::partition::is_acyclic(diamond, ago::grouping<4>{{0, 1, 0, 1}, 2}));
}

TEST_CASE("stages, orders and the check for cycles agree with the straightforward versions") {
  test::random r(5);
  int cyclic = 0;
  for (int round = 0; round < 10'000; ++round) {
    int const nodes = round % 20 == 0 ? test::pick(r, 60, 150) : test::pick(r, 2, 30);
    auto const d = test::make_random_dag(r, nodes);
    auto const n = oracle::view(d);
    auto const s = ago::partition::stages_of(d);
    REQUIRE(std::vector(s.of, s.of + nodes) == oracle::stages(n, oracle::singletons(n)));
    auto const o = ago::partition::order_of(d);
    REQUIRE(std::vector(o.order, o.order + o.count) == oracle::order(n));
    int rep[150];
    for (int v = 0, groups = test::pick(r, 1, nodes); v < nodes; ++v) rep[v] = test::pick(r, 0, groups - 1);
    auto const g = ago::partition::grouping_by<150>(rep, nodes);
    REQUIRE(oracle::view(g, nodes) == oracle::canonical({rep, rep + nodes}));
    bool const acyclic = oracle::acyclic(n, {g.of, g.of + nodes});
    REQUIRE(ago::partition::is_acyclic(d, g) == acyclic);
    cyclic += !acyclic;
  }
  CHECK(cyclic > 1'000);
  CHECK(cyclic < 9'000);
}

TEST_CASE("a quotient sums weights and keeps exactly the edges between groups") {
  test::random r(6);
  for (int round = 0; round < 1'000; ++round) {
    int const nodes = test::pick(r, 2, 40);
    auto const d = test::make_random_dag(r, nodes);
    auto const n = oracle::view(d);
    int rep[150];
    for (int v = 0; v < nodes; ++v) rep[v] = test::pick(r, 0, nodes - 1);
    auto const g = ago::partition::grouping_by<150>(rep, nodes);
    auto const q = oracle::view(ago::partition::quotient(d, g));
    REQUIRE(q.size() == g.count);
    oracle::groups const of(g.of, g.of + nodes);
    REQUIRE(oracle::edges_between(q, oracle::singletons(q)) == oracle::edges_between(n, of));
    std::vector<long> weight(g.count);
    std::vector<int> complex(g.count);
    for (int v = 0; v < nodes; ++v) weight[of[v]] += n.weight[v], complex[of[v]] += n.complex[v];
    REQUIRE(q.weight == weight);
    REQUIRE(q.complex == complex);
    REQUIRE(oracle::view(ago::partition::inside(d, g)).sources == oracle::inside(n, of).sources);
  }
}

}  // namespace
