// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as the subject of a search.
#include "networks.hpp"

#include <ago/ago.hpp>
#include <ago/tuner/network_problem.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace tune_test;
using tuner::candidate;
using tuner::choice;
using tuner::network_problem;
using tuner::region;

namespace {

candidate usual_of(tuner::problem const& p) {
  candidate c;
  for (choice const& x : p.choices()) c.push_back(std::uint8_t(x.usual));
  return c;
}

candidate random_of(tuner::problem const& p, std::mt19937& random) {
  candidate c;
  for (choice const& x : p.choices()) c.push_back(std::uint8_t(random() % x.options.size()));
  return c;
}

network_problem<chains>& tuned_chains() {
  static network_problem<chains> all;
  return all;
}

std::size_t choice_named(tuner::problem const& p, std::string const& part, std::string const& what) {
  for (std::size_t k = 0; k < p.choices().size(); ++k) {
    std::string const& name = p.choices()[k].name;
    if (name.find(part) != name.npos && name.find(what) != name.npos) return k;
  }
  FAIL("no choice " << what << " of " << part);
  return 0;
}

bool is_sorted_without_twins(std::vector<ago::plan::tuned_schedule> const& t) {
  return tuner::schedule_list(t).sorted() &&
         std::is_sorted(t.begin(), t.end(), [](auto const& a, auto const& b) { return a.signature < b.signature; });
}

}  // namespace

TEST_CASE("the usual options are the default: an empty table, and the compiled model's outputs") {
  auto& p = tuned_chains();
  CHECK(p.feasible(usual_of(p)));
  CHECK(p.to_table(usual_of(p)).empty());
  static model<chains> compiled(
      std::span<float const, parameter_count<chains>>(p.weights().data(), p.weights().size()));
  std::vector<float> scores(compiled.output_size());
  compiled(std::span<float const, compiled.input_size()>(p.inputs()[0].data(), compiled.input_size()),
           std::span<float, compiled.output_size()>(scores.data(), compiled.output_size()));
  CHECK(p.result_of(usual_of(p)) == scores);
}

TEST_CASE("every candidate has kernels, a sorted table, a predicted cost, and correct outputs") {
  auto& p = tuned_chains();
  std::mt19937 random(5);
  std::vector<float> const expected = p.result_of(usual_of(p));
  std::set<double> prices;
  for (int i = 0; i < 60; ++i) {
    candidate const c = random_of(p, random);
    REQUIRE(p.feasible(c));
    CHECK(is_sorted_without_twins(p.to_table(c)));
    CHECK(p.predicted(c) > 0);
    prices.insert(p.predicted(c));
    std::vector<float> const got = p.result_of(c);
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] == doctest::Approx(expected[k]).epsilon(1e-4));
  }
  CHECK(prices.size() > 30);
}

TEST_CASE("minis share no choice, and have all choices except joining") {
  auto& p = tuned_chains();
  std::set<std::size_t> seen;
  for (region const& r : p.minis()) {
    CHECK(r.weight > 0);
    for (std::size_t const k : r.choices) {
      CHECK(seen.insert(k).second);
      CHECK(p.choices()[k].apart == choice::none);
    }
  }
  for (std::size_t k = 0; k < p.choices().size(); ++k) CHECK(seen.count(k) == (p.choices()[k].apart == choice::none));
}

TEST_CASE("subgraphs have the choices of their minis and those that join them") {
  auto& p = tuned_chains();
  std::set<std::size_t> seen;
  for (region const& r : p.subgraphs()) {
    std::set<std::size_t> const own(r.choices.begin(), r.choices.end());
    CHECK(own.size() == r.choices.size());
    for (std::size_t const m : r.minis)
      for (std::size_t const k : p.minis()[m].choices) CHECK(own.count(k) == 1);
    seen.insert(own.begin(), own.end());
  }
  CHECK(seen.size() == p.choices().size());
}

TEST_CASE("regions are named after the parts of steps, not after steps") {
  auto& p = tuned_chains();
  for (auto const* regions : {&p.minis(), &p.subgraphs()})
    for (region const& r : *regions) {
      CAPTURE(r.name);
      CHECK(r.name.find("part") != r.name.npos);
      CHECK(r.name.find("steps") == r.name.npos);
    }
  std::string const& last = p.subgraphs().back().name;
  CHECK(last.ends_with(" " + std::to_string(runtime::formed<chains, options{}>::parts.count - 1)));
  for (tuner::entry const& e : p.table(candidate(p.choices().size(), 1))) {
    CHECK(p.has_signature(e.found.signature));
    CHECK(!p.has_signature(e.found.signature + 1));
  }
}

TEST_CASE("every choice changes the plan, for some option and some other choices") {
  auto& p = tuned_chains();
  std::mt19937 random(7);
  for (std::size_t k = 0; k < p.choices().size(); ++k) {
    CAPTURE(p.choices()[k].name);
    std::set<std::string> tables;
    for (int i = 0; i < 30 && tables.size() < 2; ++i) {
      candidate c = i == 0 ? usual_of(p) : random_of(p, random);
      for (std::size_t option = 0; option < p.choices()[k].options.size(); ++option) {
        c[k] = std::uint8_t(option);
        std::string structure;
        for (tuner::step_report const& s : p.steps(c, 1)) structure += s.structure + '\n';
        tables.insert(structure);
      }
      if (tables.size() < 2) tables.clear();
    }
    CHECK(tables.size() >= 2);
  }
}

TEST_CASE("a candidate with the same plan is not run; others are") {
  auto& p = tuned_chains();
  candidate const usual = usual_of(p);
  tuner::comparison const same = p.measure(usual, usual, 10);
  CHECK(same.runs == 0);
  CHECK(same.confidence == .5);
  CHECK(same.contender > 0);
  candidate other = usual;
  std::size_t const k = choice_named(p, "depthwise", "register tile");
  other[k] = 1;
  tuner::comparison const different = p.measure(other, usual, 3);
  CHECK(different.runs == 3);
  CHECK(different.contender > 0);
  CHECK(different.incumbent > 0);
}

TEST_CASE("trying all options of one choice finds the fastest") {
  auto& p = tuned_chains();
  std::size_t const k = choice_named(p, "conv2d 3x3 13x11", "way");
  candidate best = usual_of(p);
  best[k] = 0;
  for (std::size_t option = 1; option < p.choices()[k].options.size(); ++option) {
    candidate c = best;
    c[k] = std::uint8_t(option);
    if (p.measure(c, best, 20).confidence > .9) best = c;
  }
  candidate other = best;
  for (std::size_t option = 0; option < p.choices()[k].options.size(); ++option) {
    other[k] = std::uint8_t(option);
    tuner::comparison const c = p.measure(other, best, 20);
    CHECK_FALSE((c.confidence > .999 && c.contender < .8 * c.incumbent));
  }
}

TEST_CASE("the report has every step once, with both times") {
  auto& p = tuned_chains();
  candidate c = usual_of(p);
  for (std::size_t k = 0; k < c.size(); ++k)
    if (p.choices()[k].apart != choice::none) c[k] = std::uint8_t(p.choices()[k].apart);
  int parts = 0;
  for (tuner::step_report const& s : p.steps(c, 3)) {
    CHECK(s.usual > 0);
    CHECK(s.tuned > 0);
    CHECK(!s.structure.empty());
    parts += 1 + int(std::count(s.name.begin(), s.name.end(), ';'));
  }
  CHECK(parts == tuner::network_space<chains>::count);
  CHECK(p.table(c).size() == p.to_table(c).size());
}

TEST_CASE("without intensive fusion nothing is joined") {
  network_problem<branches, options{.policy = policy::ago_ni}> p;
  for (choice const& c : p.choices()) CHECK(c.apart == choice::none);
  CHECK(p.feasible(usual_of(p)));
}

TEST_CASE("a candidate of another network is refused") {
  auto& p = tuned_chains();
  CHECK_FALSE(p.feasible(candidate{1, 2, 3}));
  CHECK_THROWS_AS(p.predicted(candidate{1, 2, 3}), std::invalid_argument);
  candidate c = usual_of(p);
  c[0] = 200;
  CHECK_FALSE(p.feasible(c));
}

TEST_CASE("for several threads, every long step has a choice of work items, and all give the same result") {
  network_problem<wide, options{.threads = {2}}> p;
  CHECK(p.instruction_set() == std::string(name_of(native_isa)) + ", 2 threads");
  std::vector<float> const expected = p.result_of(usual_of(p));
  std::string cuts;
  int choices = 0;
  for (std::size_t k = 0; k < p.choices().size(); ++k) {
    if (!p.choices()[k].name.ends_with(": threads")) continue;
    ++choices;
    candidate c = usual_of(p);
    for (std::size_t j = 0; j < c.size(); ++j)
      if (p.choices()[j].name.ends_with(": with the step before")) c[j] = 1;  // apart
    for (std::size_t option = 0; option < p.choices()[k].options.size(); ++option) {
      c[k] = std::uint8_t(option);
      REQUIRE(p.feasible(c));
      CHECK(p.result_of(c) == expected);
      for (tuner::step_report const& s : p.steps(c, 1)) cuts += s.structure + '\n';
    }
  }
  CHECK(choices >= 2);
  for (char const* how : {", 2 pieces along rows", ", 2 pieces along pixels", ", 2 pieces along channels"})
    CHECK(cuts.find(how) != cuts.npos);
}

TEST_CASE("nothing is divided for one thread") {
  for (choice const& c : tuned_chains().choices()) CHECK(!c.name.ends_with(": threads"));
}
