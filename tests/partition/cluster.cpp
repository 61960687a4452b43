// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graphs.hpp"
#include "oracle.hpp"
#include "support/rounds.hpp"

#include <ago/partition/cluster.hpp>
#include <ago/partition/stage.hpp>

#include <doctest/doctest.h>

namespace {

using test::make_dag;
using groups = std::vector<int>;

template <int V, int E>
groups clusters(ago::partition::dag<V, E> const& d, long limit) {
  return oracle::view(ago::partition::cluster(d, limit), d.count);
}

TEST_CASE("clusters of small graphs are those determined by hand") {
  SUBCASE("the first of two equally heavy nodes takes its neighbours until the limit") {
    auto const d = make_dag<4, 3>({10, 1, 1, 10}, {{}, {0}, {1}, {2}});
    CHECK(clusters(d, 13) == groups{0, 0, 0, 3});
    CHECK(clusters(d, 12) == groups{0, 0, 2, 2});
  }
  SUBCASE("a sum equal to the limit is too much") {
    auto const d = make_dag<2, 1>({2, 3}, {{}, {0}});
    CHECK(clusters(d, 5) == groups{0, 1});
    CHECK(clusters(d, 6) == groups{0, 0});
  }
  SUBCASE("K2,2: the second pair would close a cycle, which the initial stages do not show") {
    auto const d = make_dag<4, 4>({1, 1, 1, 1}, {{}, {}, {0, 1}, {0, 1}});
    CHECK(clusters(d, 3) == groups{0, 1, 0, 3});
    CHECK(clusters(d, 4) == groups{0, 0, 0, 3});
  }
  SUBCASE("a diamond is taken one neighbour at a time, never from both sides at once") {
    auto const d = make_dag<4, 4>({1, 1, 2, 1}, {{}, {0}, {0}, {1, 2}});
    CHECK(clusters(d, 4) == groups{0, 1, 0, 1});
    CHECK(clusters(d, 100) == groups{0, 0, 0, 0});
  }
  SUBCASE("equal weights: smallest number first, for the candidate and for its partner") {
    auto const chain = make_dag<6, 5>({1, 1, 1, 1, 1, 1}, {{}, {0}, {1}, {2}, {3}, {4}});
    CHECK(clusters(chain, 3) == groups{0, 0, 2, 2, 4, 4});
    auto const fork = make_dag<4, 3>({5, 1, 1, 1}, {{}, {0}, {0}, {0}});
    CHECK(clusters(fork, 7) == groups{0, 0, 2, 3});
  }
  SUBCASE("among equally heavy partners a group counts by its smallest member") {
    // 4 and {2, 7} weigh 4 and cannot grow. Then {0, 1, 3, 5, 6, 8} weighs 9 and can take either: 2 < 4 decides,
    // although that group was grown from 7.
    auto const d = make_dag<9, 8>({2, 1, 1, 1, 4, 2, 2, 3, 1}, {{}, {0}, {}, {1, 2}, {}, {3}, {4, 5}, {2}, {6}});
    CHECK(clusters(d, 16) == groups{0, 0, 0, 0, 4, 0, 0, 0, 0});
  }
  SUBCASE("a skip over a chain is not an affix edge") {
    auto const d = make_dag<4, 4>({1, 5, 5, 2}, {{}, {0}, {1}, {2, 0}});
    CHECK(clusters(d, 4) == groups{0, 1, 2, 3});  // 0 and 3 are neighbours and would fit
  }
  SUBCASE("components are never joined") {
    auto const d = make_dag<4, 2>({4, 3, 2, 1}, {{}, {0}, {}, {2}});
    CHECK(clusters(d, 100) == groups{0, 0, 2, 2});
  }
  SUBCASE("a node as heavy as the limit stays alone") {
    auto const d = make_dag<3, 2>({50, 4, 4}, {{}, {0}, {1}});
    CHECK(clusters(d, 10) == groups{0, 1, 1});
    CHECK(clusters(d, 50) == groups{0, 1, 1});
  }
  SUBCASE("a value read twice by one operator is one neighbour") {
    auto const d = make_dag<2, 2>({3, 3}, {{}, {0, 0}});
    CHECK(clusters(d, 7) == groups{0, 0});
  }
  SUBCASE("graphs of one node and of none") {
    CHECK(clusters(make_dag<4, 4>({3}, {{}}), 7) == groups{0});
    CHECK(clusters(ago::partition::dag<4, 4>{}, 7).empty());
  }
}

TEST_CASE("clusters equal those of the straightforward algorithm, and can run one after another") {
  test::random r(1);
  for (int round = 0; round < test::rounds(6'000); ++round) {
    int const nodes = round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 2, 30);
    auto const d = test::make_random_dag(r, nodes);
    auto const n = oracle::view(d);
    long const limit = test::random_limit(r, d);
    int const complex_limit = round % 3 == 0 ? 1 : round % 3 == 1 ? 2 : INT_MAX;
    auto const found = ago::partition::cluster(d, limit, complex_limit);
    CAPTURE(round);
    REQUIRE(oracle::view(found, d.count) == oracle::cluster(n, limit, complex_limit));
    REQUIRE(oracle::acyclic(n, groups(found.of, found.of + d.count)));
    REQUIRE(ago::partition::is_acyclic(d, found));
    ago::partition::neighbours_by_level<150, 450> levels(d);  // as in large graphs in which searches would be long
    ago::partition::grow(levels, ago::partition::by_weight<150>(d.weight, d.count).order, d.count, limit,
                         complex_limit);
    REQUIRE(oracle::view(levels.joins.groups(d.count), d.count) == oracle::view(found, d.count));
  }
}

TEST_CASE("the literal reading, any node of the component, equals the straightforward one and is acyclic too") {
  test::random r(2);
  for (int round = 0; round < test::rounds(4'000); ++round) {
    int const nodes = round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 2, 30);
    auto const d = test::make_random_dag(r, nodes);
    auto const n = oracle::view(d);
    long const limit = test::random_limit(r, d);
    int const complex_limit = round % 3 == 0 ? 1 : round % 3 == 1 ? 2 : INT_MAX;
    auto const found = ago::partition::cluster(d, limit, complex_limit, ago::partition::affix::component);
    CAPTURE(round);
    REQUIRE(oracle::view(found, d.count) == oracle::cluster(n, limit, complex_limit, oracle::affix::component));
    REQUIRE(oracle::acyclic(n, groups(found.of, found.of + d.count)));
  }
}

TEST_CASE("levels are the topological stages, wherever they are asked for, after contractions of neighbouring ones") {
  test::random r(4);
  for (int round = 0; round < test::rounds(1'000); ++round) {
    auto const d = test::make_random_dag(r, test::pick(r, 2, 40));
    auto const n = oracle::view(d);
    ago::partition::levels<150, 450> l(d);
    auto const placed = [&](int u) { return l.is[u] == ago::partition::levels<150, 450>::state::placed; };
    for (;;) {
      groups of(d.count), current;
      for (int v = 0; v < d.count; ++v) of[v] = l.joins.find(v);
      for (int v = 0; v < d.count; ++v)
        if (of[v] == v) current.push_back(v);
      auto const stage = oracle::stages(n, of);
      // Usually, the levels around one node are asked for, and all others may have to move later.
      int const v = current[r() % current.size()];
      std::vector<std::pair<int, int>> pairs;
      for (int asked : test::pick(r, 0, 3) == 0 ? current : groups{v}) {
        l.settle_around(asked);
        int const at = l.level[asked];
        int depth = 1;
        for (int k = l.above[at]; k >= 0; k = l.above[k]) ++depth;
        REQUIRE(depth == stage[asked]);
        for (int u : current) {
          if (l.component[u] != l.component[asked]) continue;
          bool const before = placed(u) && l.level[u] == l.above[at], after = placed(u) && l.level[u] == l.below[at];
          REQUIRE(before == (stage[u] == stage[asked] - 1));
          REQUIRE(after == (stage[u] == stage[asked] + 1));
          REQUIRE((placed(u) && l.level[u] == at) == (stage[u] == stage[asked]));
          if (asked == v && (before || after)) pairs.push_back({v, u});
        }
      }
      if (current.size() == 1) break;
      if (pairs.empty() && test::pick(r, 0, 9) == 0) break;
      if (pairs.empty()) continue;
      l.settle_around(v);
      auto const [a, b] = pairs[r() % pairs.size()];
      test::pick(r, 0, 1) ? l.absorb(a, b) : l.absorb(b, a);
    }
  }
}

TEST_CASE("contraction keeps the order, finds detours and knows which edges determine a stage") {
  test::random r(3);
  for (int round = 0; round < test::rounds(750); ++round) {
    auto const d = test::make_random_dag(r, test::pick(r, 2, 24));
    auto const n = oracle::view(d);
    ago::partition::contraction<150, 450> c(d);
    for (;;) {
      groups of(d.count);
      for (int v = 0; v < d.count; ++v) of[v] = c.find(v);
      auto const between = oracle::edges_between(n, of);
      auto const stage = oracle::stages(n, of);
      std::vector<std::pair<int, int>> safe;
      for (auto [a, b] : between) {
        REQUIRE(c.label[a] < c.label[b]);
        bool const contractible = oracle::contractible(n, of, a, b);
        REQUIRE(c.has_detour(a, b) == !contractible);
        if (contractible) safe.push_back({a, b});
        int const longest = c.deepest(b);
        bool linked = false;
        for (int e = c.ins[b]; e >= 0; e = c.in_next[e]) linked = linked || c.from[e] == a;
        REQUIRE((linked && c.depth[a] == longest) == (stage[b] == stage[a] + 1));
        if (linked && c.has_one_edge_in(b)) REQUIRE(stage[b] == stage[a] + 1);
      }
      if (safe.empty()) break;
      auto const [a, b] = safe[r() % safe.size()];
      test::pick(r, 0, 1) ? c.absorb(a, b) : c.absorb(b, a);
    }
  }
}

}  // namespace
