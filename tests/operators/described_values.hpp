// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of a graph, computed by their descriptions.
#pragma once

#include <ago/operators/description.hpp>

#include <cmath>
#include <string>

#include "expression/run.hpp"
#include "reference/executor.hpp"

namespace expression_test {

/// The operands and parameters of operator v, whose description is `d`; `all`: the values of all operators.
template <int V, int E, int O>
std::vector<values> given_to(ago::ir::graph<V, E, O> const& g, int v, ago::described::description const& d,
                             std::vector<float> const& parameters, std::vector<reference::value> const& all) {
  std::vector<values> r;
  for (int k = 0; k < g.nodes[v].input_count; ++k) r.push_back(all[std::size_t(g.operand(v, k))].exact);
  int next = 0;
  for (int k = 0; k < d.as.value_count; ++k)
    if (auto const& p = d.as.values[k]; p.role == ago::expression::value_role::parameter) {
      REQUIRE(next < d.parameter_count);
      auto const first = parameters.begin() + d.parameters[next++];
      REQUIRE(parameters.end() - first >= p.extents.count());
      r.emplace_back(first, first + p.extents.count());
    }
  REQUIRE(next == d.parameter_count);
  return r;
}

/// Operator v must have the values that the tests' own executor computes.
template <int V, int E, int O>
void check_description(ago::ir::graph<V, E, O> const& g, int v, ago::described::description const& d,
                       std::vector<float> const& parameters, std::vector<reference::value> const& all) {
  CAPTURE(v);
  CAPTURE(std::string(ago::ir::label_of(g.nodes[v])));
  REQUIRE(d.as.result().count() == g.nodes[v].out.count());
  values const got = run(d.as, given_to(g, v, d, parameters, all))[0], &expected = all[std::size_t(v)].exact;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::isfinite(expected[i])) REQUIRE(got[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    else REQUIRE(!std::isfinite(got[i]));
}

}  // namespace expression_test
