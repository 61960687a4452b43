// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The learnt cost model: it interpolates, estimates its uncertainty, and finds out whether to trust the analytic model.
#include <ago/tuner/search/cost_model.hpp>
#include <doctest/doctest.h>

#include <cmath>

#include "tuner/synthetic.hpp"

namespace {

using namespace ago::tuner;

genes any(generator& random) {
  genes g;
  for (int i = 0; i < 6; ++i) g.push_back(std::uint8_t(random.below(4)));
  return g;
}
double cost(genes const& g) {
  double sum = 0;
  for (std::size_t i = 0; i < g.size(); ++i) sum += .05 * synthetic::hashed(i, g[i]);
  return sum;
}
/// Correlation of predictions for new combinations with their costs, after `count` observations.
double skill(int count, double (*analytic)(genes const&)) {
  generator random(11);
  cost_model model(std::vector<bool>(6, false), .1);
  for (int i = 0; i < count; ++i) {
    genes const g = any(random);
    model.learn(g, analytic(g), cost(g) + .002 * (random.unit() - .5));
  }
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (int i = 0; i < 300; ++i) {
    genes const g = any(random);
    double const a = model(g, analytic(g)).mean, b = cost(g);
    n += 1, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  return (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
}

}  // namespace

TEST_CASE("the factors of a matrix solve its equations") {
  generator random(1);
  constexpr std::size_t n = 12;
  std::vector<double> root(n * n), matrix(n * n), b(n);
  for (double& x : root) x = random.unit();
  for (double& x : b) x = random.unit();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      matrix[i * n + j] = i == j;
      for (std::size_t k = 0; k < n; ++k) matrix[i * n + j] += root[i * n + k] * root[j * n + k];
    }
  cholesky factor;
  REQUIRE(factor.set(matrix, n));
  std::vector<double> const x = factor.solve_upper(factor.solve_lower(b));
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += matrix[i * n + j] * x[j];
    CHECK(sum == doctest::Approx(b[i]));
  }
  CHECK(!factor.set({1, 2, 0, 1}, 2));  // 1 2; 2 1 has a negative eigenvalue
}

TEST_CASE("measured costs are remembered, and predictions far from them are uncertain") {
  generator random(2);
  cost_model model(std::vector<bool>(6, false), .1);
  std::vector<genes> seen;
  for (int i = 0; i < 40; ++i) {
    seen.push_back(any(random));
    model.learn(seen.back(), 0, cost(seen.back()));
  }
  double known = 0, unknown = 0;
  for (genes const& g : seen) {
    estimate const e = model(g, 0);
    CHECK(std::abs(e.mean - cost(g)) < .02);
    known += e.deviation;
  }
  for (int i = 0; i < 40; ++i) unknown += model(any(random), 0).deviation;
  CHECK(unknown > 2 * known);
}

TEST_CASE("predictions improve with measurements, with a good analytic model, a bad one, or none") {
  auto const none = [](genes const&) { return 0.; };
  auto const good = [](genes const& g) { return cost(g) + .005 * g[0]; };
  auto const bad = [](genes const& g) { return .1 * synthetic::hashed(g[0], g[1], g[2], g[3]); };
  CHECK(skill(5, good) > .9);
  CHECK(skill(60, none) > .9);
  CHECK(skill(60, none) > skill(8, none));
  CHECK(skill(60, bad) > .9);
}

TEST_CASE("there may be more observations than are kept") {
  CHECK(skill(400, [](genes const&) { return 0.; }) > .8);
}
