// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differences of the values of an expression, as gradients.
#pragma once

#include <ago/expression/gradient.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "run.hpp"

namespace expression_test {

/// Numbers from -2 to 2, of which no two are equal.
inline values continuous_values(long count, std::mt19937& random) {
  std::uniform_real_distribution<double> any(-2, 2);
  values r(static_cast<std::size_t>(count));
  for (double& x : r) x = any(random);
  return r;
}

/// Compares gradients with central differences of fourth order. Elements near a kink, where differences of several
/// steps do not agree, or of values so large that differences are rounded, are counted and left out.
struct differences {
  int elements{}, kinks{};

  /// `g`: the gradient of operand k of e. `most`: elements that are compared.
  void check(ago::expression::index_expression const& e, int k, ago::expression::definition const& g,
             std::mt19937& random, int most = 12) {
    std::vector<values> const operands = drawn(e, random);
    check(e, k, g, operands, random, most);
  }
  void check(ago::expression::index_expression const& e, int k, ago::expression::definition const& g,
             std::vector<values> const& operands, std::mt19937& random, int most = 12) {
    REQUIRE(g.bad.what == ago::expression::fault::none);
    REQUIRE(g.result() == e.operands[k]);
    values const flow = continuous_values(e.result.count(), random);
    std::vector<values> given = operands;
    given.push_back(evaluated(e, operands));
    given.push_back(flow);
    compare(e, k, operands, flow, run(g, given)[0], random, most);
  }
  /// The gradient of operand k is 0.
  void check_zero(ago::expression::index_expression const& e, int k, std::mt19937& random) {
    std::vector<values> const operands = drawn(e, random);
    values const flow = continuous_values(e.result.count(), random);
    compare(e, k, operands, flow, values(std::size_t(e.operands[k].count())), random, 4);
  }

 private:
  /// Operands of which the expression has finite values, if there are some: a variance is not negative.
  static std::vector<values> drawn(ago::expression::index_expression const& e, std::mt19937& random) {
    std::vector<values> r;
    for (int i = 0; i < e.operand_count; ++i) r.push_back(continuous_values(e.operands[i].count(), random));
    values const y = evaluated(e, r);
    if (std::all_of(y.begin(), y.end(), [](double v) { return std::isfinite(v); })) return r;
    for (values& x : r)
      for (double& v : x) v = .1 + std::abs(v);
    return r;
  }
  void compare(ago::expression::index_expression const& e, int k, std::vector<values> operands, values const& flow,
               values const& got, std::mt19937& random, int most) {
    values const result = evaluated(e, operands);
    values& x = operands[std::size_t(k)];
    double largest = 0;
    for (std::size_t j = 0; j < result.size(); ++j) largest = std::max(largest, std::abs(result[j] * flow[j]));
    auto const moved = [&](std::size_t i, double by) {
      double const before = x[i];
      x[i] += by;
      values const y = evaluated(e, operands);
      x[i] = before;
      double r = 0;
      for (std::size_t j = 0; j < y.size(); ++j) r += (y[j] - result[j]) * flow[j];
      return r;
    };
    for (int n = 0; n < most && n < int(x.size()); ++n) {
      std::size_t const i = int(x.size()) <= most ? std::size_t(n) : random() % x.size();
      CAPTURE(i);
      double const h = 1e-3;
      double const f[] = {moved(i, -h),    moved(i, -h / 2), moved(i, -h / 4),
                          moved(i, h / 4), moved(i, h / 2),  moved(i, h)};
      double const wide = (8 * (f[4] - f[1]) - (f[5] - f[0])) / (6 * h);
      double const fine = (8 * (f[3] - f[2]) - (f[4] - f[1])) / (3 * h);
      double const left = -f[2] / (h / 4), right = f[3] / (h / 4), size = 1 + std::abs(fine);
      bool const is_exact = largest * double(result.size()) * 1e-15 / h < 1e-8 * size;
      double const near = (moved(i, h / 1000) - moved(i, -h / 1000)) / (h / 500);  // floor of something steep
      bool const is_smooth = is_exact && std::abs(wide - fine) < 1e-7 * size && std::abs(left - right) < .05 * size &&
                             std::abs(near - fine) < 1e-3 * size;
      if (!is_smooth) {
        ++kinks;
        continue;
      }
      ++elements;
      REQUIRE(std::abs(got[i] - fine) <= 1e-6 * size);
    }
  }
  static values evaluated(ago::expression::index_expression const& e, std::vector<values> const& operands) {
    std::vector<double const*> in;
    for (values const& v : operands) in.push_back(v.data());
    values r(std::size_t(e.result.count()));
    evaluate(e, in.data(), r.data());
    return r;
  }
};

}  // namespace expression_test
