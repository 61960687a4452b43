// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graphs.hpp"
#include "oracle.hpp"
#include "support/rounds.hpp"

#include <ago/partition/split.hpp>

#include <doctest/doctest.h>

namespace {

using groups = std::vector<int>;

/// A relu, then pointwise, bias, relu6, depthwise, bias, relu6, pointwise, bias, add: nodes 0 to 9.
constexpr ago::partition::dag<10, 10> inverted_residual() {
  auto d = test::make_dag<10, 10>({19, 88, 32, 32, 38, 32, 32, 88, 19, 19},
                                  {{}, {0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {0, 8}});
  for (int v : {1, 4, 7}) d.complex[v] = 1;
  return d;
}

constexpr ago::grouping<10> one_group{{}, 1};

TEST_CASE("an inverted residual splits at its complex operators") {
  auto const d = inverted_residual();
  CHECK(oracle::view(ago::partition::split_by_epilogue(d, one_group), 10) == groups{0, 1, 1, 1, 4, 4, 4, 7, 7, 7});
  // By weight alone, the last pointwise takes the operators that lead to it before the depthwise gets its bias.
  CHECK(oracle::view(ago::partition::split_by_cluster(d, one_group), 10) == groups{0, 0, 0, 0, 4, 5, 5, 5, 5, 5});
}

TEST_CASE("a mini-subgraph stays in its subgraph") {
  auto const d = inverted_residual();
  ago::grouping<10> const halves{{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, 2};
  CHECK(oracle::view(ago::partition::split_by_epilogue(d, halves), 10) == groups{0, 1, 2, 2, 4, 4, 4, 7, 7, 7});
}

TEST_CASE("an operator that two mini-subgraphs could take goes to that of its first operand") {
  auto const d = test::make_dag<3, 2>({1, 1, 1}, {{}, {}, {1, 0}});
  CHECK(oracle::view(ago::partition::split_by_epilogue(d, ago::grouping<3>{{}, 1}), 3) == groups{0, 1, 1});
}

TEST_CASE("splits equal a straightforward version's, are acyclic and nested, with at most one complex operator each") {
  test::random r(11);
  for (int round = 0; round < test::rounds(5'000); ++round) {
    int const nodes = round % 40 == 0 ? test::pick(r, 60, 150) : test::pick(r, 2, 30);
    auto const d = test::make_random_dag(r, nodes);
    auto const n = oracle::view(d);
    ago::grouping<150> whole{{}, 1};
    auto const subgraphs = round % 4 == 0 ? whole : ago::partition::cluster(d, test::random_limit(r, d));
    groups const outer(subgraphs.of, subgraphs.of + nodes);
    auto const by_cluster = ago::partition::split_by_cluster(d, subgraphs),
               by_epilogue = ago::partition::split_by_epilogue(d, subgraphs);
    CAPTURE(round);
    REQUIRE(oracle::view(by_cluster, nodes) == oracle::cluster(oracle::inside(n, outer), LONG_MAX, 1));
    std::vector<bool> const complex(n.complex.begin(), n.complex.end());
    REQUIRE(oracle::view(by_epilogue, nodes) == oracle::canonical(oracle::split_by_epilogue(n, outer, complex)));
    for (auto const* split : {&by_cluster, &by_epilogue}) {
      groups const of(split->of, split->of + nodes);
      REQUIRE(oracle::acyclic(n, of));
      for (int a = 0; a < split->count; ++a) {
        std::set<int> owners;
        int heavy = 0;
        for (int v = 0; v < nodes; ++v)
          if (of[v] == a) owners.insert(outer[v]), heavy += n.complex[v];
        REQUIRE(owners.size() == 1);
        REQUIRE(heavy <= 1);
      }
    }
    bool starts[150];
    std::vector<bool> more(nodes);
    for (int v = 0; v < nodes; ++v) starts[v] = more[v] = complex[v] || test::pick(r, 0, 3) == 0;
    REQUIRE(oracle::view(ago::partition::split_by_epilogue(d, subgraphs, starts), nodes) ==
            oracle::canonical(oracle::split_by_epilogue(n, outer, more)));
  }
}

}  // namespace
