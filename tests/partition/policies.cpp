// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of every policy's partition of every network: AGO_ROUNDS random networks.
#include "random_network.hpp"
#include "support/rounds.hpp"

#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

using ago::op;
using ago::policy;

/// What is wrong with a partition, or null. Each operator must occur once, cluster by cluster, after its operands. Then
/// the clusters can run one after another, independently of the partition's own flags.
char const* fault_of(test::random_graph const& g, ago::partition::ordered_clusters<160> const& p) {
  if (!p.acyclic) return "is said to have a cycle";
  if (p.operators != g.node_count - g.input_count) return "misses operators";
  int when[160], of_last = 0;
  for (int v = 0; v < g.node_count; ++v) when[v] = v < g.input_count ? 0 : -1;
  for (int i = 0; i < p.operators; ++i) {
    int const v = p.order[i];
    if (v < g.input_count || v >= g.node_count || when[v] >= 0) return "has something twice";
    when[v] = i;
    if (i == 0 ? p.of[v] != 0 : p.of[v] != of_last && p.of[v] != of_last + 1) return "has a cluster in pieces";
    of_last = p.of[v];
    for (int k = 0; k < g.nodes[v].input_count; ++k)
      if (when[g.operand(v, k)] < 0) return "has an operator before its operand";
  }
  if (p.operators > 0 && of_last != p.count - 1) return "has empty clusters";
  return nullptr;
}

/// Whether all members of each group of `inner` are in one group of `outer`.
bool nested(test::random_graph const& g, int const* inner, int const* outer) {
  int group[160];
  std::fill(group, group + 160, -1);
  for (int v = g.input_count; v < g.node_count; ++v) {
    int& k = group[inner[v]];
    if (k >= 0 && k != outer[v]) return false;
    k = outer[v];
  }
  return true;
}

/// Mini-subgraphs are inside subgraphs and have at most one complex operator; chains are inside subgraphs too. Policies
/// that promise to keep atoms keep them.
char const* fault_of(test::random_graph const& g, ago::partitions<160> const& p, policy by) {
  if (char const* const fault = fault_of(g, p.subgraphs)) return fault;
  if (char const* const fault = fault_of(g, p.minis)) return fault;
  if (!nested(g, p.minis.of, p.subgraphs.of)) return "has a mini-subgraph in two subgraphs";
  if (!nested(g, p.chain_of, p.subgraphs.of)) return "has a chain in two subgraphs";
  int complex[160]{};
  for (int v = g.input_count; v < g.node_count; ++v)
    if (ago::ir::is_complex(g.nodes[v].kind) && ++complex[p.minis.of[v]] > 1)
      return "has a mini-subgraph with two complex operators";
  if (by != policy::ago && by != policy::ago_ni) return nullptr;
  auto const atoms = ago::partition::atoms_of(g);
  int atom[160]{};
  for (int v = g.input_count; v < g.node_count; ++v) atom[v] = atoms.of[v - g.input_count];
  if (!nested(g, atom, p.minis.of) || !nested(g, p.minis.of, atom)) return "cuts atoms";
  return nested(g, atom, p.chain_of) ? nullptr : "has an atom in two chains";
}

TEST_CASE("partitions of random networks by every policy are acyclic, complete and nested, and keep atoms") {
  char const* const wish = std::getenv("AGO_ROUNDS");
  int const rounds = wish ? std::atoi(wish) : test::rounds(50'000), seeds = 10;
  for (int seed = 0; seed < seeds; ++seed) {
    test::random r(unsigned(71 + seed));
    for (int round = 0; round < rounds / seeds; ++round) {
      auto const g = test::make_random_network(r, round % 20 == 0 ? test::pick(r, 60, 150) : test::pick(r, 1, 30));
      for (int i = 0; i < ago::partition::policies; ++i)
        if (char const* const fault = fault_of(g, partition_by(policy(i), g), policy(i)))
          FAIL("seed ", seed, ", round ", round, ": ", name_of(policy(i)), ' ', fault);
    }
  }
}

TEST_CASE("the checks find these faults") {
  test::random r(70);
  auto const g = test::make_random_network(r, 40);
  auto const p = partition_by(policy::fuse_ops, g);
  auto const with = [&](auto const& change) {
    auto q = p;
    change(q);
    char const* const fault = fault_of(g, q, policy::ago);
    return std::string(fault ? fault : "");
  };
  auto const last = [&](auto const& q) { return q.order[q.operators - 1]; };
  CHECK(fault_of(g, p, policy::fuse_ops) == nullptr);
  CHECK(with([](auto& q) { q.subgraphs.acyclic = false; }) == "is said to have a cycle");
  CHECK(with([](auto& q) { --q.minis.operators; }) == "misses operators");
  CHECK(with([](auto& q) { q.minis.order[1] = q.minis.order[0]; }) == "has something twice");
  CHECK(with([&](auto& q) { ++q.subgraphs.of[last(q.subgraphs)]; }) != "");
  CHECK(with([](auto& q) { ++q.subgraphs.count; }) == "has empty clusters");
  CHECK(with([](auto& q) { std::swap(q.minis.order[0], q.minis.order[39]); }) != "");
  CHECK(with([](auto& q) {
          for (int& c : q.chain_of) c = 0;
        }) == "has a chain in two subgraphs");
}

TEST_CASE("the paper's chains join its mini-subgraphs, within one subgraph only") {
  test::builder<30, 40> b;
  int x = b.input({1, 56, 56, 24});
  for (int i = 0; i < 2; ++i) x = b.inverted_residual(x, 6);
  b.output(x);
  auto const all = paper_partition(b.g, ago::partition::affix::component, 1'000'000'000);
  CHECK(all.subgraphs.count == 1);
  auto const is_chained = [](ago::partitions<30> const& p, int a, int c) { return p.chain_of[a] == p.chain_of[c]; };
  CHECK((is_chained(all, 4, 7) || is_chained(all, 1, 4)));  // depthwise with one of its pointwise neighbours
  auto const none = paper_partition(b.g, ago::partition::affix::component, 1);
  CHECK(none.subgraphs.count == b.g.node_count - 1);
  for (int v = 1; v < b.g.node_count; ++v)
    for (int u = 1; u < v; ++u) CHECK_FALSE(is_chained(none, u, v));
}

// The literal affix set, at compile time, on networks of the size of a MobileViT with attention as separate operators.
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
  static constexpr auto parts = ago::partition::paper_partition(Graph);
  static_assert(Graph.node_count > 685 && parts.subgraphs.acyclic && parts.minis.acyclic);
};

constexpr auto residual_network = inverted_residuals();
constexpr auto shuffle_network = shuffle_units();
constexpr auto transformer_network = transformers();
static_assert(literally<residual_network>::parts.subgraphs.count > 1);
static_assert(literally<shuffle_network>::parts.subgraphs.count > 1);
static_assert(literally<transformer_network>::parts.subgraphs.count > 1);

}  // namespace
