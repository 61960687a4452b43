// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The paper's six networks, during compilation, within every compiler's default limits: with AGO_TEST_FULL four of them
// under every policy, otherwise two of them.
#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>
#include <ago/passes/optimized.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using ago::policy;

template <auto const& Net, policy Policy>
struct evaluated {
  static constexpr auto const& graph = ago::passes::optimized<Net>::value;
  static constexpr auto parts = ago::partition::partition_by(Policy, graph);
  static constexpr auto subgraphs = ago::partition::statistics_of(graph, parts.subgraphs);
  static constexpr auto minis = ago::partition::statistics_of(graph, parts.minis);
  static_assert(parts.subgraphs.acyclic && parts.minis.acyclic);
  static_assert(minis.most_complex <= 1);
};

/// The subgraphs break no epilogue, and capture these triples.
void check_statistics(ago::partition::partition_statistics const& s, int triples) {
  CHECK(s.broken_epilogues == 0);
  CHECK(s.triples == triples);
}
template <auto const& Net>
void check_statistics(int triples) {
  auto const& g = ago::passes::optimized<Net>::value;
  check_statistics(ago::partition::statistics_of(g, partition_by(policy::ago, g).subgraphs), triples);
}

/// If every atom is a subgraph, there are no chains.
template <auto const& Net>
void check_single_blocks() {
  auto const& g = ago::passes::optimized<Net>::value;
  auto const p = ago::partition::ago_partition(g, 1, true, ago::cortex_a55);
  for (int v = g.input_count; v < g.node_count; ++v) {
    CHECK(p.subgraphs.of[v] == p.minis.of[v]);
    for (int u = g.input_count; u < v; ++u) CHECK((p.chain_of[u] == p.chain_of[v]) == (p.minis.of[u] == p.minis.of[v]));
  }
}

/// No chain is cut, for any device, and there are some chains.
template <auto const& Net>
void check_chains() {
  auto const& g = ago::passes::optimized<Net>::value;
  for (ago::device const& on : {ago::device{}, ago::cortex_a55, ago::cortex_a76}) {
    auto const p = partition_by(policy::ago, g, on);
    int chained = 0;
    for (int v = g.input_count; v < g.node_count; ++v)
      for (int u = g.input_count; u < v; ++u) {
        if (p.chain_of[u] != p.chain_of[v]) continue;
        CHECK(p.subgraphs.of[u] == p.subgraphs.of[v]);
        chained += p.minis.of[u] != p.minis.of[v];
      }
    CHECK(chained > 0);
  }
}

template <auto const& Net, policy Policy>
void check_at_run_time() {
  using e = evaluated<Net, Policy>;
  auto const p = partition_by(Policy, e::graph);
  for (int v = 0; v < e::graph.node_count; ++v) {
    CHECK(p.subgraphs.of[v] == e::parts.subgraphs.of[v]);
    CHECK(p.minis.of[v] == e::parts.minis.of[v]);
    CHECK(p.chain_of[v] == e::parts.chain_of[v]);
  }
}

#ifdef AGO_TEST_FULL
constexpr bool full = true;
#else
constexpr bool full = false;
#endif

/// The partition is the same at compile time and at run time; its statistics are as expected.
template <auto const& Net, bool EveryPolicy = full>
void check(int triples) {
  check_at_run_time<Net, policy::ago>();
  if constexpr (EveryPolicy) {
    check_at_run_time<Net, policy::ago_ni>();
    check_at_run_time<Net, policy::paper>();
    check_at_run_time<Net, policy::paper_adjacent>();
    check_at_run_time<Net, policy::fuse_ops>();
    check_at_run_time<Net, policy::apollo>();
  }
  check_statistics(evaluated<Net, policy::ago>::subgraphs, triples);
}

TEST_CASE("networks are partitioned at compile time as at run time") {
  check<networks::mobilenet_v2<224>>(17);
  check<networks::mnasnet<224>, false>(17);  // the layers of MobileNet-V2
  check<networks::squeezenet<224>, false>(0);
  check<networks::shufflenet_v2<224>, true>(16);
  check<networks::mobilevit_s<256>>(7);
  check<networks::bert_tiny<128>, true>(0);
}

TEST_CASE("their chains are inside subgraphs") {
  check_chains<networks::mobilenet_v2<224>>();
  check_chains<networks::mnasnet<112>>();
  check_chains<networks::shufflenet_v2<224>>();
  check_chains<networks::mobilevit_s<256>>();
  check_chains<networks::bert_tiny<128>>();
}

TEST_CASE("nothing is fused across subgraphs: if every atom is one, no chain is left") {
  check_single_blocks<networks::mobilenet_v2<224>>();
  check_single_blocks<networks::shufflenet_v2<224>>();
  check_single_blocks<networks::bert_tiny<128>>();
}

TEST_CASE("networks at other sizes are partitioned as well") {
  check_statistics<networks::mobilenet_v2<112>>(17);
  check_statistics<networks::mobilenet_v2<56>>(17);
  check_statistics<networks::mnasnet<112>>(17);
  check_statistics<networks::mnasnet<56>>(17);
  check_statistics<networks::squeezenet<112>>(0);
  check_statistics<networks::squeezenet<56>>(0);
  check_statistics<networks::shufflenet_v2<112>>(16);
  check_statistics<networks::shufflenet_v2<56>>(16);
  check_statistics<networks::mobilevit_s<224>>(7);
}

}  // namespace
