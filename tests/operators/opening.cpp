// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compound operators open into follows from their descriptions.
#include <ago/passes/opening.hpp>
#include <ago/recognition/recognition.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "described_values.hpp"
#include "samples.hpp"

using namespace expression_test;
using ago::op;

namespace {

/// The values of all operators of a graph by their descriptions.
template <int V, int E, int O>
std::vector<values> described(ago::ir::graph<V, E, O> const& g, values const& input, values const& parameters) {
  std::vector<values> all{input};
  for (int v = 1; v < g.node_count; ++v) {
    ago::described::description const d = ago::described::description_of(g, v);
    REQUIRE(d.exists);
    std::vector<values> given;
    for (int k = 0; k < g.nodes[v].input_count; ++k) given.push_back(all[std::size_t(g.operand(v, k))]);
    int next = 0;
    for (int k = 0; k < d.as.value_count; ++k)
      if (auto const& p = d.as.values[k]; p.role == ago::expression::value_role::parameter) {
        auto const first = parameters.begin() + d.parameters[next++];
        given.emplace_back(first, first + p.extents.count());
      }
    all.push_back(run(d.as, given)[0]);
  }
  return all;
}

}  // namespace

TEST_CASE("the primitives of a compound operator compute its description") {
  std::mt19937 random(1);
  int opened_kinds = 0;
  for (int k = 0; k < ago::ir::operator_count; ++k) {
    op const kind{std::uint8_t(k)};
    ago::passes::opening const all{};
    if (primitives_of(kind, all) == 1) continue;
    CAPTURE(std::string(name_of(kind)));
    ++opened_kinds;
    auto const g = operators_test::sample_of(kind);
    auto const o = ago::passes::opened<16, 32>(g, all);
    CHECK(o.graph.node_count == g.node_count - 1 + primitives_of(kind, all));
    values const input = random_values(g.nodes[0].out.count(), random), parameters = random_values(8, random);
    values const expected = described(g, input, parameters).back();
    values const got = described(o.graph, input, parameters).back();
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  }
  CHECK(opened_kinds == 6);
}

TEST_CASE("softmax opens into the nodes of its description's normal form") {
  auto const g = operators_test::sample_of(op::softmax);
  auto const o = ago::passes::opened<16, 32>(g, {});
  ago::expression::definition const d = ago::recognition::normalised(ago::described::description_of(g, 1).as);
  int v = 1;
  for (int i = 0; i < d.expression_count; ++i) {
    ago::recognition::recognised_nodes const found =
        ago::recognition::recognise(d.expressions[i], ago::recognition::parameters_of(d, i));
    REQUIRE(found);
    for (int k = 0; k < found.count; ++k, ++v) {
      ago::ir::node const &got = found.nodes[k].made, &expected = o.graph.nodes[v];
      CHECK(got.kind == expected.kind);
      CHECK(got.out == expected.out);
      CHECK(got.function == expected.function);
    }
  }
  CHECK(v == o.graph.node_count);
}
