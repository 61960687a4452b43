// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property: algebraic rules do not change the results of a graph; exact rules change no number.
#include <ago/passes/passes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "executor.hpp"
#include "random_patterns.hpp"
#include "support/rounds.hpp"

namespace {

using ago::algebra;

struct outcome {
  double worst = 0;  ///< difference, relative to the largest element of an output
  ago::passes::rule_counts applied;
};

/// Simplifies random graphs of patterns, and compares the results.
outcome simplified(algebra freedom, int graphs) {
  outcome r;
  for (unsigned seed = 0; int(seed) < graphs; ++seed) {
    CAPTURE(seed);
    reference::random_patterns const made(seed);
    std::mt19937 random(seed);
    auto const parameters = reference::random_parameters(made, random);
    auto const inputs = reference::random_inputs(made.graph, random);
    auto const before = ago::passes::cleaned(made.graph);
    ago::passes::rule_counts applied;
    // One round of rules at a time, without folding batch norms: exact rules are exact in every round.
    auto g = before;
    for (int rules = -1; rules != applied.total();) {
      rules = applied.total();
      g = ago::passes::cleaned(ago::passes::simplify(g, freedom, applied));
      REQUIRE(applied.total() < 1000);
    }
    REQUIRE(g.node_count <= before.node_count);
    auto const expected = reference::run(before, parameters, inputs), got = reference::run(g, parameters, inputs);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      REQUIRE(got[k].size() == expected[k].size());
      double largest = 1e-30;
      for (double const x : expected[k]) largest = std::max(largest, std::abs(x));
      for (std::size_t i = 0; i < got[k].size(); ++i) {
        double const difference = std::abs(got[k][i] - expected[k][i]) / largest;
        if (freedom == algebra::exact) REQUIRE(got[k][i] == expected[k][i]);
        else REQUIRE(difference < 1e-12);
        r.worst = std::max(r.worst, difference);
      }
    }
    for (int i = 0; i < ago::passes::rules; ++i) r.applied.of[i] += applied.of[i];
  }
  return r;
}

}  // namespace

TEST_CASE("exact rules change no number, and each of them is applied") {
  outcome const r = simplified(algebra::exact, test::rounds(1500));
  CHECK(r.worst == 0);
  for (int i = 0; i < ago::passes::rules; ++i) {
    CAPTURE(std::string(name_of(ago::passes::rule(i))));
    if (is_exact(ago::passes::rule(i))) CHECK(r.applied.of[i] >= test::rounds(10));
    else CHECK(r.applied.of[i] == 0);
  }
}

TEST_CASE("rules that reassociate change only rounding, and each of them is applied") {
  outcome const r = simplified(algebra::reassociate, test::rounds(1500));
  CHECK(r.worst > 0);
  for (int i = 0; i < ago::passes::rules; ++i) {
    CAPTURE(std::string(name_of(ago::passes::rule(i))));
    CHECK(r.applied.of[i] >= test::rounds(10));
  }
}

TEST_CASE("nothing is simplified if the graph must be taken literally") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    ago::passes::rule_counts applied;
    (void)ago::passes::optimize(reference::random_patterns(seed).graph, algebra::literal, applied);
    CHECK(applied.total() == 0);
  }
}
