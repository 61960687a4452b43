// The paper's six networks under every policy, during compilation, within every compiler's default limits.
#include <ago/graph/optimized.hpp>
#include <ago/partition/policy.hpp>
#include <ago/partition/statistics.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mnasnet.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/mobilevit.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

namespace {

using ago::policy;

template <auto const& Net, policy Policy>
struct evaluated {
  static constexpr auto const& graph = ago::optimized<Net>::value;
  static constexpr auto parts = ago::partition_by<Policy>(graph);
  static constexpr auto subgraphs = statistics_of(graph, parts.subgraphs);
  static constexpr auto minis = statistics_of(graph, parts.minis);
  static_assert(parts.subgraphs.acyclic && parts.minis.acyclic);
  static_assert(minis.most_complex <= 1);
};

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

/// ago removes no less traffic than FuseOps.
template <auto const& Net>
void check() {
  check_at_run_time<Net, policy::ago>();
  check_at_run_time<Net, policy::ago_ni>();
  check_at_run_time<Net, policy::paper>();
  check_at_run_time<Net, policy::paper_adjacent>();
  check_at_run_time<Net, policy::fuse_ops>();
  check_at_run_time<Net, policy::apollo>();
  static_assert(evaluated<Net, policy::ago>::subgraphs.bytes_removed >=
                evaluated<Net, policy::fuse_ops>::subgraphs.bytes_removed);
}

TEST_CASE("networks are partitioned at compile time by every policy") {
  check<networks::mobilenet_v2<224>>();
  check<networks::mnasnet<224>>();
  check<networks::squeezenet<224>>();
  check<networks::shufflenet_v2<224>>();
  check<networks::mobilevit_s<256>>();
  check<networks::bert_tiny<128>>();
}

}  // namespace
