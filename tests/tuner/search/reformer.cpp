// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reformer: the order of SPLIT and JOIN, when a candidate replaces another, and the quality of the result.
#include <ago/tuner/search/reformer.hpp>
#include <doctest/doctest.h>

#include <map>

#include "support/rounds.hpp"
#include "tuner/synthetic.hpp"

namespace {

using namespace ago::tuner;

struct trial {
  std::string region;
  candidate contender, incumbent;
  comparison result;
};

/// Measures, and records the requests.
struct watching_referee : referee {
  watching_referee(problem& p, int budget) : p(p), budget(budget) {}
  std::optional<comparison> compare(std::string const& region, candidate const& contender, candidate const& incumbent,
                                    int runs) override {
    if (trials_left() <= 0) return std::nullopt;
    made.push_back({region, contender, incumbent, p.measure(contender, incumbent, runs)});
    return made.back().result;
  }
  int trials() const override { return int(made.size()); }
  int trials_left() const override { return budget - trials(); }
  void improved(double gain) override {
    CHECK(gain > 0);
    replacements.push_back(made.size());
  }

  problem& p;
  int budget;
  std::vector<trial> made;
  std::vector<std::size_t> replacements;  ///< the number of trials at each
};

struct search_result {
  candidate best, start;
  std::vector<trial> trials;
  std::vector<std::size_t> replacements;
};
search_result searched(problem& p, settings const& s) {
  watching_referee judge(p, s.budget);
  reformer r(p, s, judge);
  candidate const best = r.run();
  CHECK(judge.trials() <= s.budget);
  for (trial const& t : judge.made) CHECK((p.feasible(t.contender) && p.feasible(t.incumbent)));
  return {best, r.start(), judge.made, judge.replacements};
}

/// All combinations take the same time, so candidates win only by noise.
struct flat_landscape : synthetic::landscape {
  using landscape::landscape;
  comparison measure(candidate const&, candidate const& incumbent, int runs) override {
    return landscape::measure(incumbent, incumbent, runs);
  }
};

bool is_mini(std::string const& region) { return region.find(": part") != region.npos; }

/// The time of the result as a multiple of the optimum, averaged over some seeds.
double quality(synthetic::shape what, method how, variant v, int budget) {
  constexpr int seeds = test::rounds(2);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    what.seed = seed;
    synthetic::landscape p(what);
    settings s;
    s.how = how, s.what = v, s.seed = seed, s.budget = budget;
    sum += p.seconds(searched(p, s).best) / p.optimum() / seeds;
  }
  return sum;
}

}  // namespace

TEST_CASE("minis are tuned separately, and the joined search begins with their results") {
  synthetic::landscape p({.noise = .001});
  settings s;
  s.budget = 250;
  search_result const r = searched(p, s);
  CHECK(r.start == usual(p.choices()));
  std::map<std::string, bool> joined;
  for (std::size_t i = 0; i < r.trials.size(); ++i) {
    trial const& t = r.trials[i];
    std::string const owner = t.region.substr(0, t.region.find(':'));
    if (is_mini(t.region)) CHECK(!joined[owner]);
    if (is_mini(t.region) || t.region == "all apart") continue;
    region const& whole = p.subgraphs()[std::size_t(owner.back() - '1')];
    if (!joined[owner]) {
      // The last state of the minis, joined by default.
      candidate const before = usual(p.choices());
      CHECK(t.contender != t.incumbent);
      for (std::size_t const c : joining(whole, p.minis())) CHECK(t.contender[c] == before[c]);
    }
    joined[owner] = true;
  }
  CHECK(joined.size() == 3);
  for (trial const& t : r.trials)
    if (is_mini(t.region)) {
      region const& whole = p.subgraphs()[std::size_t(t.region[6] - '1')];
      CHECK(t.contender[joining(whole, p.minis())[0]] == 0);
      CHECK(t.incumbent[joining(whole, p.minis())[0]] == 0);
    }
}

TEST_CASE("after JOIN the ways of joining are tried first, with the composed schedules as they are") {
  synthetic::landscape p({.minis = 3, .noise = .001});
  settings s;
  s.budget = 400;
  std::map<std::string, std::vector<trial>> joined;
  for (trial const& t : searched(p, s).trials)
    if (!is_mini(t.region) && t.region != "all apart") joined[t.region].push_back(t);
  for (region const& whole : p.subgraphs()) {
    std::vector<trial> const& trials = joined[whole.name];
    auto const keeps_minis = [&](trial const& t) {
      return std::ranges::all_of(whole.minis, [&](std::size_t m) {
        std::vector<std::size_t> const& own = p.minis()[m].choices;
        return genes_of(t.contender, own) == genes_of(t.incumbent, own);
      });
    };
    std::size_t first = 0;  // after the requests of JOIN itself
    while (first < trials.size() && !keeps_minis(trials[first])) ++first;
    std::size_t last = first;
    while (last < trials.size() && keeps_minis(trials[last])) ++last;
    CAPTURE(whole.name);
    CHECK(first <= 4);
    CHECK(last - first >= 2 * patience_with_structure);
    CHECK(last < trials.size());
  }
}

TEST_CASE("a share of the search changes only its own subgraphs") {
  synthetic::landscape p;
  settings s;
  s.share = {1, 2};
  std::vector<std::size_t> own;
  for (region const* r : subgraphs_of(p, s.share)) own.insert(own.end(), r->choices.begin(), r->choices.end());
  search_result const r = searched(p, s);
  CHECK(r.best != r.start);
  for (trial const& t : r.trials)
    for (std::size_t i = 0; i < r.start.size(); ++i)
      if (!std::ranges::count(own, i)) CHECK(t.contender[i] == r.start[i]);
}

TEST_CASE("without the reformer, subgraphs are searched as a whole; without pipelines, nothing is joined") {
  synthetic::landscape p;
  settings s;
  s.budget = 120;
  s.what = variant::ago_nr;
  for (trial const& t : searched(p, s).trials) CHECK(!is_mini(t.region));
  s.what = variant::ago_ni;
  search_result const r = searched(p, s);
  for (region const& whole : p.subgraphs()) {
    std::size_t const join = joining(whole, p.minis())[0];
    for (trial const& t : r.trials) CHECK((t.contender[join] == 0 && t.incumbent[join] == 0));
    CHECK(r.best[join] == 0);
  }
}

TEST_CASE("a contender replaces the best only after it has won twice with confidence") {
  synthetic::landscape p({.noise = .05});
  settings s;
  s.budget = 300;
  search_result const r = searched(p, s);
  CHECK(!r.replacements.empty());
  for (std::size_t const after : r.replacements) {
    REQUIRE(after >= 2);
    trial const &first = r.trials[after - 2], &second = r.trials[after - 1];
    CHECK(first.contender == second.contender);
    CHECK(first.incumbent == second.incumbent);
    for (trial const* t : {&first, &second}) CHECK(is_faster(t->result, s.confidence));
  }
}

TEST_CASE("if nothing can be gained, hardly anything is replaced") {
  flat_landscape p({.noise = .05});
  settings s;
  s.budget = test::rounds(500);
  s.what = variant::ago_nr;
  CHECK(searched(p, s).replacements.size() <= std::size_t(test::rounds(4)));  // budget / 400 are expected
}

TEST_CASE("minis that gain nothing settle after a number of trials, and are then joined") {
  flat_landscape p({.noise = 0});
  settings s;
  s.budget = 1100;
  std::map<std::string, int> trials;
  for (trial const& t : searched(p, s).trials) ++trials[t.region];
  for (region const& mini : p.minis()) CHECK(trials[mini.name] == patience(3));
  for (region const& whole : p.subgraphs()) CHECK(trials[whole.name] > 100);
}

TEST_CASE("minis use at most their share of the budget") {
  synthetic::landscape p({.noise = .0001});
  settings s;
  s.budget = 100;
  std::map<std::string, int> trials;
  for (trial const& t : searched(p, s).trials) trials[t.region.substr(0, t.region.find(':'))] += is_mini(t.region);
  for (region const& whole : p.subgraphs()) {
    double const share = whole.weight / 6;
    CHECK(trials[whole.name] <= int(s.budget * share * s.split_share) + 1);  // the last one may be measured twice
  }
}

TEST_CASE("a small problem is searched completely, and the optimum is found") {
  synthetic::landscape p({.subgraphs = 1, .minis = 1, .noise = .001});
  for (method const how : {method::evolutionary, method::random, method::exhaustive}) {
    settings s;
    s.how = how, s.budget = 1000;
    search_result const r = searched(p, s);
    CHECK(r.trials.size() < 200);
    CHECK(p.seconds(r.best) == doctest::Approx(p.optimum()).epsilon(.002));
  }
}

TEST_CASE("more trials give better results, always better than random search") {
  synthetic::shape const s{.subgraphs = 3, .minis = 2};
  double const usual = quality(s, method::random, variant::ago, 1);
  double const small = quality(s, method::evolutionary, variant::ago, 150);
  double const large = quality(s, method::evolutionary, variant::ago, 500);
  double const drawn = quality(s, method::random, variant::ago, 500);
  double const direct = quality(s, method::evolutionary, variant::ago_nr, 150);
  MESSAGE("multiples of the optimum: default ", usual, ", 150 trials ", small, ", 500 trials ", large, ", random ",
          drawn, ", without reformer 150 trials ", direct);
  CHECK(usual > 1.3);
  CHECK(small < 1.12);
  CHECK(large < 1.04);
  CHECK(drawn > 1.08);
  CHECK(direct < 1.12);
}
