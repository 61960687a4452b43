// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators computed by the reference executor.
#pragma once

#include <ago/expression/evaluate.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace expression_test {

using values = std::vector<double>;

/// `count` numbers from -2 to 2, in steps of 1/8, so that sums of products of a few are exact.
inline values random_values(long count, std::mt19937& random) {
  std::uniform_int_distribution<int> any(-16, 16);
  values r(static_cast<std::size_t>(count));
  for (double& x : r) x = any(random) / 8.;
  return r;
}

/// Inputs and parameters of an operator.
inline std::vector<values> random_operands(ago::expression::definition const& d, std::mt19937& random) {
  std::vector<values> r;
  for (int v = 0; v < d.value_count; ++v)
    if (d.values[v].role != ago::expression::value_role::computed)
      r.push_back(random_values(d.values[v].extents.count(), random));
  return r;
}

/// The results of an operator.
inline std::vector<values> run(ago::expression::definition const& d, std::vector<values> const& given) {
  REQUIRE(d.bad.what == ago::expression::fault::none);
  std::vector<double const*> in;
  for (values const& v : given) in.push_back(v.data());
  std::vector<values> results;
  std::vector<double*> out;
  for (int i = 0; i < d.result_count; ++i) results.emplace_back(static_cast<std::size_t>(d.result(i).count()));
  for (values& v : results) out.push_back(v.data());
  values workspace(static_cast<std::size_t>(ago::expression::workspace_of(d)));
  evaluate(d, in.data(), out.data(), workspace.data());
  return results;
}

}  // namespace expression_test
