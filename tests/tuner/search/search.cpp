// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Searches in one region: none proposes a combination twice or an infeasible one, and the evolutionary one finds better
// ones.
#include <ago/tuner/search/evolution.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "tuner/synthetic.hpp"

namespace {

using namespace ago::tuner;

space small() {
  space s;
  s.sizes = {3, 1, 4, 2};
  s.joins = {false, false, false, true};
  s.feasible = [](genes const& g) { return g[0] != 1 || g[2] != 3; };
  s.analytic = [](genes const& g) { return .1 * g[0]; };
  return s;
}
constexpr std::size_t feasible_in_small = 3 * 4 * 2 - 2;

std::vector<std::unique_ptr<search>> searches(space const& s, std::uint64_t seed) {
  std::vector<std::unique_ptr<search>> all;
  all.push_back(std::make_unique<exhaustive_search>(s));
  all.push_back(std::make_unique<random_search>(s, seed));
  all.push_back(std::make_unique<evolutionary_search>(s, seed));
  return all;
}

/// Eight choices of five options, with a valley along which choices depend on each other, and with local optima.
struct valley {
  std::uint64_t seed;
  double cost(genes const& g) const {
    double sum = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      sum += .03 * synthetic::hashed(seed, i, g[i]);
      if (i > 0) sum += .1 * synthetic::hashed(seed, i, g[i - 1], g[i]);
    }
    return sum;
  }
  /// The optimum, by dynamic programming over pairs of neighbours.
  double optimum() const {
    std::vector<double> least(5);
    for (std::size_t a = 0; a < 5; ++a) least[a] = .03 * synthetic::hashed(seed, 0, a);
    for (std::size_t i = 1; i < 8; ++i) {
      std::vector<double> next(5, 1e9);
      for (std::size_t a = 0; a < 5; ++a)
        for (std::size_t b = 0; b < 5; ++b)
          next[b] =
              std::min(next[b], least[a] + .03 * synthetic::hashed(seed, i, b) + .1 * synthetic::hashed(seed, i, a, b));
      least = next;
    }
    return *std::ranges::min_element(least);
  }
  space where() const {
    space s;
    s.sizes.assign(8, 5);
    s.joins.assign(8, false);
    s.feasible = [](genes const&) { return true; };
    s.analytic = [](genes const&) { return 0.; };
    return s;
  }
};

/// The least noiseless cost among `budget` combinations measured with noise.
double least_found(search& method, valley const& v, int budget) {
  generator noise(v.seed + 1000);
  double least = 1e9;
  for (int i = 0; i < budget; ++i) {
    std::optional<genes> const g = method.propose();
    REQUIRE(g);
    least = std::min(least, v.cost(*g));
    method.learn(*g, v.cost(*g) + .01 * (noise.unit() - .5));
  }
  return least;
}

}  // namespace

TEST_CASE("every method proposes each feasible combination once, and then nothing") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (auto const& method : searches(small(), seed)) {
      std::set<genes> seen;
      while (std::optional<genes> const g = method->propose()) {
        CHECK(small().feasible(*g));
        CHECK(seen.insert(*g).second);
        method->learn(*g, .1 * (*g)[2]);
      }
      CHECK(seen.size() == feasible_in_small);
    }
}

TEST_CASE("known combinations are not proposed") {
  for (auto const& method : searches(small(), 1)) {
    method->learn({2, 0, 1, 1}, 0);
    std::size_t count = 0;
    for (; std::optional<genes> const g = method->propose(); ++count) CHECK(*g != genes{2, 0, 1, 1});
    CHECK(count == feasible_in_small - 1);
  }
}

TEST_CASE("a search depends only on its seed") {
  valley const v{1};
  auto const proposals = [&](std::uint64_t seed) {
    evolutionary_search s(v.where(), seed);
    std::vector<genes> all;
    for (int i = 0; i < 40; ++i) {
      all.push_back(*s.propose());
      s.learn(all.back(), v.cost(all.back()));
    }
    return all;
  };
  CHECK(proposals(1) == proposals(1));
  CHECK(proposals(1) != proposals(2));
}

TEST_CASE("the analytic model's favourite is measured first") {
  valley const v{2};
  space s = v.where();
  s.sizes.assign(3, 5), s.joins.assign(3, false);
  s.analytic = [](genes const& g) { return std::abs(g[0] - 3) + std::abs(g[1] - 1) + std::abs(g[2] - 4); };
  evolutionary_search method(s, 1);
  CHECK(method.propose() == genes{3, 1, 4});
}

TEST_CASE("of 390625 combinations, 120 noisy trials find one within 4 % of the optimum, and random ones do not") {
  double evolved = 0, drawn = 0;
  constexpr int seeds = 8;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    valley const v{seed};
    evolutionary_search evolution(v.where(), seed);
    random_search chance(v.where(), seed);
    double const a = least_found(evolution, v, 120) - v.optimum(), b = least_found(chance, v, 120) - v.optimum();
    CAPTURE(seed);
    CHECK(a < b);
    CHECK(a < .08);
    evolved += a / seeds, drawn += b / seeds;
  }
  MESSAGE("above the optimum: evolutionary ", evolved, ", random ", drawn);
  CHECK(evolved < .04);
  CHECK(drawn > 3 * evolved);
}
