// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inspector's plans compared with the constants of ago::program.
#include <ago/runtime/program.hpp>

#include <inspect.hpp>
#include <networks.hpp>

#include <networks/bert_tiny.hpp>
#include <networks/mobilenet_v2.hpp>
#include <networks/shufflenet_v2.hpp>
#include <networks/squeezenet.hpp>

#include <doctest/doctest.h>

namespace {

using namespace ago::tools;
using ago::options;
using ago::policy;

/// Compares everything that a program knows at compile time with the inspector's results at run time.
template <auto const& Net, options O>
void check_program(char const* name, int size) {
  using program = ago::program<Net, ago::untuned, O>;
  CAPTURE(name);
  CAPTURE(name_of(O.policy));
  auto const traced = find_network(name)->trace(size);
  inspection const i = inspect(traced->value, O);
  REQUIRE(int(i.nodes.size()) == program::graph.node_count);
  CHECK(std::size_t(i.arena_bytes) == program::arena_bytes);
  CHECK(std::size_t(i.weight_bytes) == program::weight_bytes);
  CHECK((int(i.steps.size()) == program::steps && int(i.subgraphs.size()) == program::subgraphs));
  for (int v = 0; v < program::graph.node_count; ++v) {
    inspected_node const& n = i.nodes[std::size_t(v)];
    CHECK((n.kind == program::graph.nodes[v].kind && n.out == program::graph.nodes[v].out));
    CHECK((n.subgraph == program::partition.subgraphs.of[v] && n.mini == program::partition.minis.of[v]));
  }
  auto const p = plan_of(traced->value, O);
  bool same = true;
  for (int k = 0; k < program::steps; ++k) {
    same = same && p->tiling_of(k) == program::tiling_of(k) && p->first_part(k) == program::first_part(k);
    for (int part = program::first_part(k); part < program::first_part(k + 1); ++part)
      same = same && p->part(part).key == program::plan.steps[part].key;
  }
  CHECK(same);
  static constexpr auto predicted = program::predicted();
  for (int k = 0; k < program::steps; ++k)
    CHECK(i.steps[std::size_t(k)].cycles == doctest::Approx(predicted[std::size_t(k)].sum()).epsilon(1e-12));
}

}  // namespace

TEST_CASE("the inspector's results are the compiler's decisions") {
  check_program<networks::mobilenet_v2<224>, options{}>("mobilenet_v2", 224);
  check_program<networks::squeezenet<112>, options{.policy = policy::apollo, .device = ago::cortex_a55}>("squeezenet",
                                                                                                         112);
  check_program<networks::shufflenet_v2<224>, options{.policy = policy::paper}>("shufflenet_v2", 224);
  check_program<networks::bert_tiny<128>, options{}>("bert_tiny", 128);
}
