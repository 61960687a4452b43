// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apollo_paper.hpp"

#include <support/rounds.hpp>

#include <ago/partition/apollo.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using groups = std::vector<int>;
using builder = test::builder<32, 48, 4>;
constexpr ago::shape image{1, 14, 14, 8}, pixel{1, 1, 1, 8};

/// The group of each operator after each layer of Apollo, named by the group's first operator.
struct layers {
  groups aggregated, stitched, parallel;
};
layers grouped(builder const& b, long limit = 1 << 20) {
  auto const found = ago::partition::apollo(ago::partition::apollo_graph_of(b.g, ago::partition::dag_of(b.g)), limit);
  int const count = b.g.node_count - b.g.input_count;
  auto const p = ago::partition::apollo_partition(b.g);
  CHECK((p.subgraphs.acyclic && p.minis.acyclic));
  return {oracle::view(found.aggregated, count), oracle::view(found.stitched, count),
          oracle::view(found.parallel, count)};
}
groups aggregated(builder const& b) { return grouped(b).aggregated; }
int global_pool(builder& b, int x) { return b.add({.kind = op::global_avg_pool, .out = pixel}, {x}); }

TEST_CASE("Apollo, Table 1: chains") {
  builder b;
  int const x = b.input(image);
  SUBCASE("elementwise operators") {
    b.unary(op::tanh, b.unary(op::relu, b.unary(op::sigmoid, b.unary(op::bias, x))));
    CHECK(aggregated(b) == groups{0, 0, 0, 0});
  }
  SUBCASE("a convolution and the elementwise operators after it") {
    b.bias_relu(b.pointwise(x, 8));
    CHECK(aggregated(b) == groups{0, 0, 0});
  }
  SUBCASE("convolutions stay separate; operators between them go to the first") {
    b.bias_relu(b.depthwise(b.bias_relu(b.pointwise(x, 8))));
    CHECK(aggregated(b) == groups{0, 0, 0, 3, 3, 3});
  }
  SUBCASE("a convolution takes the elementwise operators before it") {
    b.pointwise(b.unary(op::tanh, b.unary(op::relu, x)), 8);
    CHECK(aggregated(b) == groups{0, 0, 0});
  }
  SUBCASE("operators before it are taken first, in order") {
    b.bias_relu(b.depthwise(b.bias_relu(b.pointwise(b.unary(op::relu, x), 8))));
    CHECK(aggregated(b) == groups{0, 0, 2, 2, 2, 2, 2});
  }
  SUBCASE("a reduction takes the elementwise operators before it, and nothing after it") {
    b.unary(op::tanh, b.unary(op::softmax, b.unary(op::relu, x)));
    CHECK(aggregated(b) == groups{0, 0, 2});
  }
  SUBCASE("a convolution's epilogue as well: the rule for reductions comes first") {
    b.unary(op::softmax, b.unary(op::bias, b.pointwise(x, 8)));
    CHECK(aggregated(b) == groups{0, 1, 1});
  }
  SUBCASE("no rule covers data movement") {
    b.unary(op::permute, b.unary(op::reshape, b.unary(op::relu, x)));
    CHECK(aggregated(b) == groups{0, 1, 2});
  }
  SUBCASE("or pooling windows") {
    b.unary(op::relu, b.add({.kind = op::max_pool, .out = image}, {b.pointwise(x, 8)}));
    CHECK(aggregated(b) == groups{0, 1, 2});
  }
}

TEST_CASE("Apollo, Table 1: branches") {
  builder b;
  int const x = b.input(image);
  SUBCASE("branches of elementwise operators and their sum") {
    int const y = b.unary(op::relu, x);
    b.binary(op::add, b.unary(op::tanh, y), b.unary(op::sigmoid, y));
    CHECK(aggregated(b) == groups{0, 0, 0, 0});
  }
  SUBCASE("a convolution before them") {
    int const y = b.pointwise(x, 8);
    b.binary(op::add, b.unary(op::tanh, y), b.unary(op::sigmoid, y));
    CHECK(aggregated(b) == groups{0, 0, 0, 0});
  }
  SUBCASE("a skip around a move would close a cycle") {
    int const y = b.unary(op::softmax, x);
    int const z = b.unary(op::relu, y);
    b.binary(op::add, z, b.unary(op::reshape, b.unary(op::tanh, z)));
    CHECK(aggregated(b) == groups{0, 1, 1, 3, 4});
  }
  SUBCASE("a sum goes to the first of two convolutions") {
    int const l = b.pointwise(x, 8), r = b.depthwise(x);
    b.unary(op::relu, b.binary(op::add, l, r));
    CHECK(aggregated(b) == groups{0, 1, 0, 0});
  }
  SUBCASE("a product with a gate is a broadcast, which takes what follows, and not what precedes") {
    int const gate = b.unary(op::sigmoid, global_pool(b, x));
    b.unary(op::tanh, b.binary(op::mul, b.unary(op::relu, x), gate));
    CHECK(aggregated(b) == groups{0, 1, 2, 3, 3});
  }
  SUBCASE("a convolution takes no broadcast") {
    int const gate = b.unary(op::sigmoid, global_pool(b, x));
    b.binary(op::mul, b.pointwise(x, 8), gate);
    CHECK(aggregated(b) == groups{0, 1, 2, 3});
  }
  SUBCASE("a transposition takes what precedes it, a reduction broadcasts as well") {
    int const gated = b.binary(op::mul, b.unary(op::reshape, x), b.unary(op::reshape, global_pool(b, x)));
    b.unary(op::permute, gated);
    CHECK(aggregated(b) == groups{0, 1, 2, 3, 3});
    b.unary(op::softmax, gated);
    CHECK(aggregated(b) == groups{0, 1, 2, 3, 4, 3});
  }
  SUBCASE("a value read by two convolutions goes to neither if a third has it") {
    int const y = b.bias_relu(b.pointwise(x, 8));
    b.pointwise(y, 8);
    b.depthwise(y);
    CHECK(aggregated(b) == groups{0, 0, 0, 3, 4});
  }
  SUBCASE("a value read twice") {
    int const y = b.unary(op::relu, x);
    b.binary(op::mul, y, y);
    CHECK(aggregated(b) == groups{0, 0});
  }
}

TEST_CASE("Apollo, Table 2: a reduction and its followers") {
  builder b;
  int const x = b.input(image);
  SUBCASE("softmax takes the operators that follow") {
    b.unary(op::tanh, b.unary(op::softmax, b.unary(op::relu, x)));
    CHECK(grouped(b).stitched == groups{0, 0, 0});
  }
  SUBCASE("and reductions among them") {
    b.unary(op::layer_norm, b.unary(op::tanh, b.unary(op::softmax, x)));
    CHECK(aggregated(b) == groups{0, 1, 1});
    CHECK(grouped(b).stitched == groups{0, 0, 0});
  }
  SUBCASE("a gate by the mean of the image itself") {
    int const y = b.unary(op::relu, x), mean = global_pool(b, y);
    b.binary(op::mul, y, mean);
    CHECK(aggregated(b) == groups{0, 0, 2});
    CHECK(grouped(b).stitched == groups{0, 0, 0});
  }
  SUBCASE("not operators on the result alone") {
    b.unary(op::relu, global_pool(b, x));
    CHECK(grouped(b).stitched == groups{0, 1});
  }
  SUBCASE("not a convolution") {
    b.pointwise(b.unary(op::softmax, x), 8);
    CHECK(grouped(b).stitched == groups{0, 1});
  }
  SUBCASE("not operators taken by a convolution") {
    int const l = b.unary(op::softmax, x), r = b.pointwise(x, 8);
    b.binary(op::add, l, r);
    CHECK(grouped(b).stitched == groups{0, 1, 1});
  }
}

TEST_CASE("Apollo, Algorithm 3: parallel branches") {
  builder b;
  int const x = b.input(image), y = b.unary(op::reshape, x);
  SUBCASE("all but those that arithmetic limits") {
    b.unary(op::permute, y), b.pointwise(y, 8), b.unary(op::softmax, y), b.unary(op::relu, y);
    CHECK(grouped(b).stitched == groups{0, 1, 2, 3, 4});
    CHECK(grouped(b).parallel == groups{0, 1, 2, 1, 1});
  }
  SUBCASE("as many as fit together") {
    for (int i = 0; i < 3; ++i) b.unary(op::softmax, y);  // 6272 bytes each
    CHECK(grouped(b, 18'816).parallel == groups{0, 1, 1, 1});
    CHECK(grouped(b, 18'815).parallel == groups{0, 1, 1, 3});
    CHECK(grouped(b, 12'543).parallel == groups{0, 1, 2, 3});
  }
  SUBCASE("not those that depend on each other") {
    b.binary(op::add, b.unary(op::permute, y), y);
    CHECK(grouped(b).parallel == groups{0, 1, 2});
  }
  SUBCASE("level after level") {
    int const l = b.unary(op::permute, b.unary(op::softmax, y)), r = b.unary(op::permute, b.unary(op::softmax, y));
    b.concat(l, r);
    CHECK(grouped(b).parallel == groups{0, 1, 2, 1, 2, 5});
  }
  SUBCASE("of an input") {
    b.concat(b.unary(op::permute, x), b.unary(op::softmax, x));
    CHECK(grouped(b).parallel == groups{0, 1, 1, 3});
  }
  SUBCASE("moves are no branches") {
    b.unary(op::slice, y), b.unary(op::slice, y);
    CHECK(grouped(b).parallel == groups{0, 1, 2});
  }
}

TEST_CASE("Apollo of random networks is that of the paper's tables and algorithms") {
  test::random r(43);
  int const rounds = test::rounds(2'000);
  long broadcasts = 0, stitched = 0, parallel = 0;
  for (int round = 0; round < rounds; ++round) {
    int const operators = round % 100 == 0 ? test::pick(r, 60, 100) : test::pick(r, 1, 30);
    auto const g = round % 4 ? test::make_broadcasting_network(r, operators) : test::make_random_network(r, operators);
    long const limit = round % 3 ? 1 << 20 : test::pick(r, 0, 50'000);
    auto const found = ago::partition::apollo(ago::partition::apollo_graph_of(g, ago::partition::dag_of(g)), limit);
    paper::network n(g);
    int const count = n.edges.size();
    for (auto const& [number, x] : n.alive) broadcasts += x.of == paper::broadcast;
    CAPTURE(round);
    n.aggregate(paper::table_1, [](auto const&, auto const&) { return true; });
    REQUIRE(oracle::view(found.aggregated, count) == oracle::canonical(n.number));
    stitched -= long(n.alive.size());
    n.stitch_memory();
    REQUIRE(oracle::view(found.stitched, count) == oracle::canonical(n.number));
    stitched += long(n.alive.size());
    parallel += long(n.alive.size());
    n.stitch_parallel(g.input_count, limit);
    REQUIRE(oracle::view(found.parallel, count) == oracle::canonical(n.number));
    parallel -= long(n.alive.size());
  }
  CHECK(broadcasts > rounds);
  CHECK(-stitched > rounds / 4);
  CHECK(parallel > rounds / 4);
}

TEST_CASE("Apollo of random networks: acyclic, nested layers, one complex operator in a mini-subgraph") {
  test::random r(41);
  for (int round = 0; round < 5'000; ++round) {
    auto const g = test::make_random_network(r, round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 1, 30));
    auto const a = ago::partition::apollo_graph_of(g, ago::partition::dag_of(g));
    auto const n = oracle::view(a.operators);
    auto const found = ago::partition::apollo(a, round % 3 ? 1 << 20 : test::pick(r, 0, 50'000));
    int const count = n.size();
    CAPTURE(round);
    ago::grouping<160> const* before = nullptr;
    for (auto const* layer : {&found.aggregated, &found.stitched, &found.parallel}) {
      REQUIRE(oracle::acyclic(n, groups(layer->of, layer->of + count)));
      for (int v = 0; before && v < count; ++v)
        for (int u = 0; u < v; ++u)
          if (before->of[u] == before->of[v]) REQUIRE(layer->of[u] == layer->of[v]);
      before = layer;
    }
    std::vector<int> complex(count), reductions(count), moves(count), members(count);
    for (int v = 0; v < count; ++v) {
      complex[found.stitched.of[v]] += n.complex[v];
      reductions[found.stitched.of[v]] += a.type[v] == ago::partition::apollo_type::reduction;
      moves[found.stitched.of[v]] += a.type[v] == ago::partition::apollo_type::opaque;
      ++members[found.stitched.of[v]];
    }
    for (int k = 0; k < found.stitched.count; ++k) {
      REQUIRE(complex[k] <= 1);
      REQUIRE((complex[k] == 0 || reductions[k] == 0));
      REQUIRE((moves[k] == 0 || members[k] == 1));
    }
  }
}

/// The numbers of the rules in a set, as the paper counts them; 6 stands for several.
std::vector<int> numbers(ago::partition::apollo_rule_set set) {
  std::vector<int> r;
  int place = 0;
  for (auto const& rule : ago::partition::aggregation_rules)
    if (set >> place++ & 1) r.push_back(rule.number);
  for (auto const& rule : ago::partition::stitching_rules)
    if (set >> place++ & 1) r.push_back(rule.number);
  return r;
}
std::vector<int> removed_from(builder const& b) {
  return numbers(
      ago::partition::apollo_feedback(b.g, ago::partition::apollo_graph_of(b.g, ago::partition::dag_of(b.g))));
}

TEST_CASE("Apollo's feedback removes rules that no kernel can follow, and only these") {
  builder b;
  int const x = b.input(image);
  SUBCASE("a convolution's epilogue") {
    b.bias_relu(b.pointwise(x, 8));
    CHECK(removed_from(b).empty());
  }
  SUBCASE("an elementwise operator before a convolution, which then has a kernel of its own") {
    b.bias_relu(b.pointwise(b.unary(op::tanh, x), 8));
    CHECK(removed_from(b) == std::vector{6});
    auto const p = ago::partition::apollo_partition(b.g);
    CHECK(p.minis.count == 2);
    CHECK(p.subgraphs.count == 2);
  }
  SUBCASE("an elementwise operator before a reduction") {
    global_pool(b, b.unary(op::tanh, x));
    CHECK(removed_from(b) == std::vector{4});
    CHECK(ago::partition::apollo_partition(b.g).minis.count == 2);
  }
  SUBCASE("a rule that works somewhere stays") {
    int const y = b.unary(op::relu, b.unary(op::tanh, x));  // rule 1
    b.add({.kind = op::add, .out = image}, {b.unary(op::relu, y), b.unary(op::tanh, y)});
    CHECK(removed_from(b).empty());
  }
  SUBCASE("what replaces a removed rule is judged, too: of a gate, only rule 2 remains") {
    // With all rules 2, 5 and 8 are applied, without 5 and 8 also 7.
    int const gate = global_pool(b, x);
    int const scaled = b.add({.kind = op::mul, .out = image}, {x, gate});
    global_pool(b, b.unary(op::tanh, scaled));
    std::string all;
    for (int const n : removed_from(b)) all += std::to_string(n) + ' ';
    CHECK(all == "5 7 8 ");
    CHECK(ago::partition::apollo_partition(b.g).minis.count == 3);
  }
}

TEST_CASE("Apollo without some rules is that of the paper's tables without them") {
  test::random r(47);
  for (int round = 0; round < 1'000; ++round) {
    auto const g = test::make_broadcasting_network(r, test::pick(r, 1, 30));
    auto const removed = ago::partition::apollo_rule_set(test::pick(r, 0, (1 << 14) - 1));
    paper::network n(g);
    int place = 0;
    auto const remaining = [&](std::vector<std::vector<paper::rule>> table) {
      for (auto& equals : table) std::erase_if(equals, [&](paper::rule const&) { return removed >> place++ & 1; });
      return table;
    };
    auto const first = remaining(paper::table_1), second = remaining(paper::table_2);
    auto const found =
        ago::partition::apollo(ago::partition::apollo_graph_of(g, ago::partition::dag_of(g)), 1 << 20, removed);
    int const count = n.edges.size();
    CAPTURE(round);
    n.aggregate(first, [](auto const&, auto const&) { return true; });
    REQUIRE(oracle::view(found.aggregated, count) == oracle::canonical(n.number));
    n.stitch_memory(second);
    REQUIRE(oracle::view(found.stitched, count) == oracle::canonical(n.number));
  }
}

TEST_CASE("after Apollo's feedback, every rule that is applied works somewhere") {
  test::random r(53);
  int fewer = 0;
  for (int round = 0; round < 1'000; ++round) {
    auto const g = test::make_broadcasting_network(r, test::pick(r, 1, 40));
    auto const a = ago::partition::apollo_graph_of(g, ago::partition::dag_of(g));
    auto const removed = ago::partition::apollo_feedback(g, a);
    auto const found = ago::partition::apollo(a, 1 << 20, removed);
    auto const kernels = ago::partition::atoms_of(g, found.stitched);
    std::vector<int> applied(15), worked(15);
    for (int v = 0; v < a.operators.count; ++v)
      for (int e = a.operators.first[v]; e < a.operators.first[v + 1]; ++e) {
        ++applied[found.rule_of[e]];
        worked[found.rule_of[e]] += kernels.of[a.operators.source[e]] == kernels.of[v];
      }
    CAPTURE(round);
    for (int rule = 1; rule < 15; ++rule) {
      REQUIRE((applied[rule] == 0 || worked[rule] > 0));
      if (removed >> (rule - 1) & 1) REQUIRE(applied[rule] == 0);
    }
    fewer += removed != 0;
  }
  CHECK(fewer > 300);
}

}  // namespace
