// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/passes/optimized.hpp>

#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using builder = test::builder<30, 40, 4>;

/// A partition of the operators into groups, given by number, in order.
ago::partition::ordered_clusters<30> parted(builder const& b, std::vector<int> const& of) {
  ago::partition::ordered_clusters<30> p;
  p.operators = int(of.size());
  for (int v = 0; v < b.g.input_count; ++v) p.of[v] = -1;
  for (int v = 0; v < p.operators; ++v) {
    p.of[b.g.input_count + v] = of[std::size_t(v)];
    p.count = std::max(p.count, of[std::size_t(v)] + 1);
  }
  return p;
}

builder inverted_residual() {
  builder b;
  int const x = b.input({1, 4, 4, 2});
  b.output(b.inverted_residual(x, 3));  // pointwise, bias, relu6, depthwise, bias, relu6, pointwise, bias, add
  return b;
}

TEST_CASE("statistics of an inverted residual") {
  auto const b = inverted_residual();
  long const wide = 4 * 16 * 6, narrow = 4 * 16 * 2;
  SUBCASE("every operator alone") {
    auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK(s.groups == 9);
    CHECK(s.most_complex == 1);
    CHECK((s.pairs == 0 && s.possible_pairs == 2));
    CHECK((s.triples == 0 && s.possible_triples == 1));
    CHECK((s.broken_epilogues == 3 && s.epilogues == 3));
    CHECK(s.bytes_removed == 0);
  }
  SUBCASE("the complex operators with their epilogues") {
    auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 0, 0, 1, 1, 1, 2, 2, 2}));
    CHECK((s.groups == 3 && s.broken_epilogues == 0 && s.pairs == 0));
    CHECK(s.bytes_removed == 2 * (4 * wide + 2 * narrow));  // each stored once and read once
  }
  SUBCASE("a pair") {
    auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 0, 0, 0, 0, 0, 1, 1, 1}));
    CHECK((s.pairs == 1 && s.triples == 0 && s.most_complex == 2));
    CHECK(s.bytes_removed == 2 * (5 * wide + 2 * narrow));
  }
  SUBCASE("a pair without the operators between it is not counted") {
    auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 0, 1, 0, 0, 0, 2, 2, 2}));
    CHECK((s.pairs == 0 && s.bytes_removed == 2 * (3 * wide + 2 * narrow)));
  }
  SUBCASE("all") {
    auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 0, 0, 0, 0, 0, 0, 0, 0}));
    CHECK((s.pairs == 2 && s.triples == 1 && s.most_complex == 3));
    CHECK(s.bytes_removed == 2 * (6 * wide + 2 * narrow));
    CHECK((s.jain == 1 && s.mean == s.median && s.mean == double(s.total)));
  }
}

TEST_CASE("a value read outside its group is stored; a pair with a path around it is not captured") {
  builder b;
  int const x = b.unary(op::relu, b.pointwise(b.input({1, 4, 4, 2}), 2)), y = b.pointwise(x, 2);
  b.output(b.binary(op::add, y, x));
  b.output(b.pointwise(b.binary(op::mul, x, y), 2));
  auto const apart = ago::partition::statistics_of(b.g, parted(b, {0, 0, 1, 1, 2, 2}));
  CHECK(apart.bytes_removed == 128 * (2 + 1));  // the first value; y, for its reader in 1
  // Two paths lead from relu to the last pointwise, x -> mul and through y, so only (0, y), (y, last) are possible.
  CHECK((apart.possible_pairs == 2 && apart.pairs == 0));
}

TEST_CASE("weights: trivial groups, mean, median and evenness") {
  builder b;
  int x = b.input({1, 1, 1, 7});  // log 7 = 1.946
  for (int i = 0; i < 6; ++i) x = b.unary(op::relu, x);
  auto const s = ago::partition::statistics_of(b.g, parted(b, {0, 1, 1, 1, 2, 2}));
  CHECK((s.groups == 3 && s.trivial == 3 && s.total == 6 * 1946 && s.heaviest == 3 * 1946));
  CHECK((s.mean == 2 * 1946 && s.median == 2 * 1946));
  CHECK(s.jain == doctest::Approx(36. / (3 * 14)));
  auto const even = ago::partition::statistics_of(b.g, parted(b, {0, 0, 0, 1, 1, 1}));
  CHECK((even.jain == doctest::Approx(1) && even.median == 3 * 1946));
  CHECK(ago::partition::statistics_of(b.g, parted(b, {0, 0, 0, 0, 0, 1})).median == 3 * 1946);
  builder heavy;
  heavy.unary(op::relu, heavy.input({1, 20, 20, 20}));
  CHECK(ago::partition::statistics_of(heavy.g, parted(heavy, {0})).trivial == 0);
}

/// The result of Algorithm 1 on whole networks, from an independent implementation of it and of these figures.
struct expectation {
  long limit;
  int pairs, triples, broken;
  double megabytes, jain;
};

template <auto const& Net>
void check_networks(std::initializer_list<expectation> cases) {
  auto const& g = ago::passes::optimized<Net>::value;
  for (auto const& e : cases)
    for (auto reading : {ago::partition::affix::component, ago::partition::affix::adjacent}) {
      auto const s = ago::partition::statistics_of(g, paper_partition(g, reading, e.limit * 1000).subgraphs);
      CAPTURE(e.limit);
      CHECK((s.pairs == e.pairs && s.possible_pairs == 51));
      CHECK((s.triples == e.triples && s.possible_triples == 17));
      CHECK((s.broken_epilogues == e.broken && s.epilogues == 53));
      CHECK(double(s.bytes_removed) / 1e6 == doctest::Approx(e.megabytes).epsilon(.05 / e.megabytes));
      CHECK(s.jain == doctest::Approx(e.jain).epsilon(.006));
    }
}

TEST_CASE("Algorithm 1 on MobileNet-V2 and MnasNet") {
  check_networks<networks::mobilenet_v2<224>>(
      {{400, 16, 0, 15, 85.1, .93}, {700, 32, 2, 8, 114.2, .92}, {1000, 38, 9, 1, 141.9, .94}});
  check_networks<networks::mnasnet<224>>(
      {{400, 13, 0, 16, 69.0, .92}, {700, 30, 2, 6, 101.0, .88}, {1000, 37, 9, 6, 111.1, .91}});
}

/// Traffic by its definition. `copied`: an operator that is assumed to read and write memory, whatever its group.
template <class Graph>
long traffic_saved(Graph const& g, int const* of, std::vector<bool> const& fused, op copied = op::input) {
  long saved = 0;
  for (int u = g.input_count; u < g.node_count; ++u) {
    bool all = true;
    int reads = 0;
    for (int o = 0; o < g.output_count; ++o) all = all && g.outputs[o] != u;
    for (int v = u + 1; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count; ++k) {
        if (g.operand(v, k) != u) continue;
        ++reads;
        bool const loops = ago::ir::is_complex(g.nodes[v].kind) || ago::ir::is_pool(g.nodes[v].kind);
        bool const in_registers = of[u] == of[v] && (!loops || fused[std::size_t(v)]) && g.nodes[v].kind != copied;
        saved += in_registers * 4 * g.nodes[u].out.count();
        all = all && in_registers;
      }
    if (all && reads > 0) saved += 4 * g.nodes[u].out.count();
  }
  return saved;
}

/// The other implementation records a reshape after the last pooling, and lets every concat copy its operands.
TEST_CASE("Algorithm 1 on SqueezeNet") {
  auto const& net = ago::passes::optimized<networks::squeezenet<224>>::value;
  ago::ir::graph<net.node_count + 1, net.edge_count + 1> g;
  std::copy(net.nodes, net.nodes + net.node_count, g.nodes);
  std::copy(net.edges, net.edges + net.edge_count, g.edges);
  g.input_count = 1, g.node_count = net.node_count + 1, g.edge_count = net.edge_count + 1, g.output_count = 1;
  int const last = net.outputs[0];
  g.outputs[0] = net.node_count;
  g.edges[net.edge_count] = last;
  g.nodes[net.node_count] = {
      .kind = op::reshape, .out = net.nodes[last].out, .input_first = net.edge_count, .input_count = 1};
  struct {
    long limit;
    int pairs, broken;
    double megabytes, jain;
  } const cases[] = {{400, 0, 13, 23.9, .84}, {1000, 3, 5, 34.1, .81}};
  for (auto const& e : cases) {
    auto const p = paper_partition(g, ago::partition::affix::component, e.limit * 1000).subgraphs;
    auto const s = ago::partition::statistics_of(g, p);
    auto const pairs = ago::partition::pairs_of(g, p.of);
    std::vector<bool> const fused(pairs.fused, pairs.fused + g.node_count);
    long const moved = traffic_saved(g, p.of, fused, op::concat);
    CAPTURE(e.limit);
    CHECK((s.pairs == e.pairs && s.possible_pairs == 8));
    CHECK((s.broken_epilogues == e.broken && s.epilogues == 26));
    CHECK(double(moved) / 1e6 == doctest::Approx(e.megabytes).epsilon(.05 / e.megabytes));
    CHECK(s.jain == doctest::Approx(e.jain).epsilon(.006));
  }
}

TEST_CASE("statistics of random networks equal those computed from the definitions") {
  test::random r(51);
  for (int round = 0; round < 2'000; ++round) {
    auto const g = test::make_random_network(r, test::pick(r, 1, 40));
    auto const n = oracle::view(ago::partition::dag_of(g));
    auto const p = partition_by(ago::policy(round % ago::partition::policies), g).subgraphs;
    auto const s = ago::partition::statistics_of(g, p);
    CAPTURE(round);
    // Pairs by enumeration of all paths from a to b.
    int possible = 0, captured = 0;
    std::vector<bool> fused(std::size_t(g.node_count));
    for (int b = g.input_count; b < g.node_count; ++b) {
      if (!ago::ir::is_complex(g.nodes[b].kind) || g.nodes[b].kind == op::conv2d) continue;
      for (int a = g.input_count; a < b; ++a) {
        if (!ago::ir::is_complex(g.nodes[a].kind)) continue;
        std::vector<bool> from(std::size_t(g.node_count)), to(std::size_t(g.node_count));
        from[std::size_t(a)] = to[std::size_t(b)] = true;
        for (int v = a + 1; v <= b; ++v)
          for (int k = 0; k < g.nodes[v].input_count; ++k) from[v] = from[v] || from[std::size_t(g.operand(v, k))];
        for (int v = b; v > a; --v)
          for (int k = 0; k < g.nodes[v].input_count && to[std::size_t(v)]; ++k)
            to[std::size_t(g.operand(v, k))] = true;
        bool strict = from[std::size_t(b)], inside = p.of[a] == p.of[b];
        for (int v = a + 1; v < b; ++v) {
          if (!from[std::size_t(v)] || !to[std::size_t(v)]) continue;
          strict = strict && ago::ir::is_elementwise(g.nodes[v].kind);
          inside = inside && p.of[v] == p.of[a];
        }
        possible += strict;
        captured += strict && inside;
        if (strict && inside) fused[std::size_t(b)] = true;  // these values are small and all fit the cache
      }
    }
    REQUIRE(s.possible_pairs == possible);
    REQUIRE(s.pairs == captured);
    REQUIRE(s.bytes_removed == traffic_saved(g, p.of, fused));
    REQUIRE(s.total == std::accumulate(n.weight.begin(), n.weight.end(), 0L));
  }
}

}  // namespace
