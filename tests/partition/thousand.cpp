// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of a thousand operators, partitioned during compilation within every compiler's default limits.
#include "graphs.hpp"

#include <ago/partition/policy.hpp>
#include <ago/partition/stage.hpp>
#include <ago/partition/statistics.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using builder = test::builder<1'024, 2'200>;
constexpr ago::shape image{1, 14, 14, 96};

/// Three projections of one value that gate each other, residuals around them, and a skip over everything.
constexpr auto transformers() {
  builder b;
  int const start = b.unary(op::gelu, b.input(image));
  int x = start;
  while (b.g.node_count < 1'000) {
    int const n = b.unary(op::batch_norm, x);
    int const q = b.unary(op::bias, b.pointwise(n, 96)), k = b.unary(op::bias, b.pointwise(n, 96));
    int const v = b.unary(op::bias, b.pointwise(n, 96));
    int const attention = b.binary(op::mul, b.unary(op::sigmoid, b.binary(op::mul, q, k)), v);
    x = b.binary(op::add, x, b.unary(op::bias, b.pointwise(attention, 96)));
    int const h = b.unary(op::gelu, b.unary(op::bias, b.pointwise(b.unary(op::batch_norm, x), 384)));
    x = b.binary(op::add, x, b.unary(op::bias, b.pointwise(h, 96)));
  }
  b.output(b.binary(op::add, x, start));
  return b.g;
}

/// Towers with inputs of their own and with branches inside, joined in pairs at the end: no operator of a tower is on
/// all paths of the network.
template <int Towers>
constexpr auto towers() {
  builder b;
  int top[Towers]{};
  for (int& x : top) x = b.input(image);
  for (int t = 0; b.g.node_count <= 1'000 - Towers; t = (t + 1) % Towers) {
    int const left = b.bias_relu(b.pointwise(top[t], 96)), right = b.bias_relu(b.depthwise(top[t]));
    top[t] = b.unary(op::relu, b.binary(op::add, b.unary(op::tanh, left), b.depthwise(right)));
  }
  for (int n = Towers; n > 1; n = (n + 1) / 2)
    for (int t = 0; t < n / 2; ++t) top[t] = b.binary(op::add, top[t], top[n - 1 - t]);
  b.output(top[0]);
  return b.g;
}

/// Encoder and decoder with a skip at every level.
constexpr auto u_net() {
  builder b;
  int x = b.input(image), skip[110]{}, level = 0;
  while (b.g.node_count < 450) skip[level++] = x = b.bias_relu(b.pointwise(b.bias_relu(b.depthwise(x)), 96));
  while (level > 0) x = b.bias_relu(b.pointwise(b.concat(x, skip[--level]), 96));
  while (b.g.node_count < 1'000) x = b.unary(op::relu, b.bias_relu(b.pointwise(x, 96)));
  b.output(x);
  return b.g;
}

using graph_type = decltype(builder::g);
using dag_type = ago::partition::dag<1'024, 2'200>;
using groups = ago::grouping<1'024>;

bool same(ago::partition::ordered_clusters<1'024> const& a, ago::partition::ordered_clusters<1'024> const& b,
          int nodes) {
  return a.count == b.count && a.operators == b.operators && a.acyclic == b.acyclic &&
         std::equal(a.of, a.of + nodes, b.of) && std::equal(a.order, a.order + a.operators, b.order);
}

bool same(groups const& a, groups const& b) { return a.count == b.count && std::equal(a.of, a.of + 1'024, b.of); }

/// The partition, and each part of the paper's pipeline in a separate constant evaluation.
template <auto const& Graph>
struct evaluated {
  static constexpr auto partition = ago::partition::ago_partition(Graph);
  static constexpr auto operators = ago::partition::dag_of(Graph);
  static constexpr auto stages = stages_of(operators);
  static constexpr auto clusters = ago::partition::cluster(operators, 600'000);
  static constexpr auto minis = split_by_cluster(operators, clusters);
  static constexpr auto epilogues = split_by_epilogue(operators, clusters);
  static constexpr auto fused = fuse_ops(ago::partition::patterns_of(Graph, operators));
  static constexpr auto layers = apollo(ago::partition::apollo_graph_of(Graph, operators), 1 << 20);
  static constexpr auto rewarded = neoflow_kernels(Graph, ago::cortex_a55);
  static constexpr auto again = recomputed<1'024, 2'200>(Graph, rewarded);
  static constexpr auto chained = neoflow_partition(again.graph, again.kernels, ago::cortex_a55);
  static constexpr auto figures = ago::partition::statistics_of(Graph, partition.subgraphs);
  static constexpr auto order = ago::partition::ordered(Graph, operators, clusters, minis);
  static_assert(Graph.node_count >= 1'000);
  static_assert(partition.subgraphs.acyclic && partition.minis.acyclic);
  static_assert(order.subgraphs.acyclic && order.minis.acyclic);
  static_assert(partition.minis.count < Graph.node_count / 2 && partition.subgraphs.count < partition.minis.count);
};

/// Compares the results at compile time with those of the same functions at run time.
struct findings {
  graph_type const& graph;
  ago::partitions<1'024> const& partition;
  ago::partition::topological_stages<1'024> const& stages;
  groups const &clusters, &minis, &epilogues, &fused, &parallel, &kernels;
  ago::partition::ordered_clusters<1'024> const& chained;
  ago::partition::partition_statistics const& figures;
};

template <auto const& Graph>
findings of() {
  using e = evaluated<Graph>;
  return {Graph,    e::partition,       e::stages,        e::clusters,          e::minis,  e::epilogues,
          e::fused, e::layers.parallel, e::again.kernels, e::chained.subgraphs, e::figures};
}

void check_at_run_time(findings const& f) {
  auto const p = ago::partition::ago_partition(f.graph);
  CHECK(same(p.subgraphs, f.partition.subgraphs, f.graph.node_count));
  CHECK(same(p.minis, f.partition.minis, f.graph.node_count));
  dag_type const d = ago::partition::dag_of(f.graph);
  CHECK(same(ago::partition::cluster(d, 600'000), f.clusters));
  CHECK(same(split_by_cluster(d, f.clusters), f.minis));
  CHECK(same(split_by_epilogue(d, f.clusters), f.epilogues));
  CHECK(same(fuse_ops(ago::partition::patterns_of(f.graph, d)), f.fused));
  CHECK(same(apollo(ago::partition::apollo_graph_of(f.graph, d), 1 << 20).parallel, f.parallel));
  auto const again = recomputed<1'024, 2'200>(f.graph, neoflow_kernels(f.graph, ago::cortex_a55));
  CHECK(same(again.kernels, f.kernels));
  CHECK(same(neoflow_partition(again.graph, again.kernels, ago::cortex_a55).subgraphs, f.chained,
             again.graph.node_count));
  auto const figures = ago::partition::statistics_of(f.graph, p.subgraphs);
  CHECK((figures.bytes_removed == f.figures.bytes_removed && figures.jain == f.figures.jain));
  auto const s = stages_of(d);
  CHECK(std::equal(s.of, s.of + d.count, f.stages.of));
}

constexpr auto transformer_network = transformers();
constexpr auto forty_towers = towers<40>();
constexpr auto skipping_network = u_net();
#ifdef AGO_TEST_FULL  // otherwise networks.cpp has such units, in smaller networks
constexpr auto residual_network =
    test::grown<builder>(image, 1'000, [](builder& b, int x) { return b.inverted_residual(x, 6); });
constexpr auto shuffle_network =
    test::grown<builder>(image, 1'000, [](builder& b, int x) { return b.shuffle_unit(x); });
#endif

TEST_CASE("a thousand operators are partitioned equally at compile time and at run time") {
#ifdef AGO_TEST_FULL
  SUBCASE("inverted residuals") { check_at_run_time(of<residual_network>()); }
  SUBCASE("shuffle units") { check_at_run_time(of<shuffle_network>()); }
#endif
  SUBCASE("transformers with a skip over everything") { check_at_run_time(of<transformer_network>()); }
  SUBCASE("forty towers") { check_at_run_time(of<forty_towers>()); }
  SUBCASE("a U-Net") { check_at_run_time(of<skipping_network>()); }
}

}  // namespace
