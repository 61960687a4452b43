// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reformer (AGO section V): SPLITs a subgraph into mini-subgraphs, tunes each, JOINs them when they have settled,
// searches for the best way to join them, and continues over all choices from there.
#pragma once

#include <ago/tuner/referee.hpp>
#include <ago/tuner/search/area.hpp>
#include <ago/tuner/share.hpp>

#include <algorithm>
#include <list>

namespace ago::tuner {

/// Searches a problem, or its share of it, until the referee's budget is spent or nothing is left to try.
class reformer {
 public:
  reformer(problem& p, settings const& s, referee& judge) : p_(p), s_(s), judge_(judge), best_(usual(p.choices())) {
    std::vector<region const*> const own = subgraphs_of(p, s.share);
    double weights = 0;
    for (region const* r : own) weights += r->weight;
    for (region const* r : own) add(*r, weights > 0 ? r->weight / weights : 0);
    start_ = best_;
  }

  /// The best candidate found. A contender must win twice to replace it, see challenge().
  candidate const& run() {
    time_the_start();
    while (judge_.trials_left() > 0) {
      if (subgraph* const settled = to_be_joined()) join(*settled);
      else if (!one_trial()) break;
    }
    return best_;
  }
  /// The start of the search: the analytic default, or for ago-ni the default without pipelines.
  candidate const& start() const { return start_; }

 private:
  struct observation {
    genes g;
    double cost;
  };
  /// A subgraph. While it is split, its minis are tuned separately and composed in `apart`.
  struct subgraph {
    subgraph(std::string name, std::vector<std::size_t> choices, double share)
        : whole(std::move(name), std::move(choices), share) {}

    area whole;
    std::list<area> minis;
    std::optional<area> structure;  ///< how minis are joined; searched after JOIN until it has settled
    bool split = false;
    genes apart;                    ///< of `whole`
    double cost = 0;                ///< of `apart`, relative to that when SPLIT began
    std::vector<observation> seen;  ///< by the minis
    int allowance = 0;              ///< trials for the minis
    int used = 0;                   ///< of these trials
  };
  static constexpr int trials_of_join = 3;  ///< approximately; reserved for each subgraph that has something to compose
  static constexpr int hopeless = 1000;     ///< trials without a gain after which a search ends

  void add(region const& r, double share) {
    std::vector<std::size_t> choices = r.choices;
    std::vector<std::size_t> const joins = joining(r, p_.minis());
    if (s_.what == variant::ago_ni) {
      if (candidate c = apart(best_, p_.choices(), joins); p_.feasible(c)) best_ = std::move(c);
      std::erase_if(choices, [&](std::size_t i) { return std::ranges::count(joins, i) != 0; });
    }
    if (choices.empty()) return;
    subgraph& s = subgraphs_.emplace_back(r.name, choices, share);
    bool const divisible = r.minis.size() > 1 || !joins.empty();
    candidate const c = apart(best_, p_.choices(), joins);
    if (s_.what == variant::ago_nr || !divisible || !p_.feasible(c)) s.whole.begin(p_, s_, [this] { return best_; });
    else split(s, r, c, share);
    if (s.split && places_in(joins) > 1) s.structure.emplace(r.name, joins, share);
  }
  void split(subgraph& s, region const& r, candidate const& c, double share) {
    s.split = true;
    s.apart = genes_of(c, s.whole.choices());
    s.allowance = std::max(1, int(s_.budget * share * s_.split_share));
    double weights = 0;
    for (std::size_t const m : r.minis) weights += p_.minis()[m].weight;
    for (std::size_t const m : r.minis) {
      region const& mini = p_.minis()[m];
      if (mini.choices.empty()) continue;
      s.minis.emplace_back(mini.name, mini.choices, weights > 0 ? share * mini.weight / weights : 0);
      s.minis.back().begin(p_, s_, [this, &s] { return composed(s); });
    }
  }
  /// The best candidate, with `s` replaced by the composition of its minis.
  candidate composed(subgraph const& s) const { return with(best_, s.whole.choices(), s.apart); }

  /// The first trial compares the start, as incumbent, with the same candidate without pipelines, so that the start's
  /// time is known.
  void time_the_start() {
    candidate contender = best_;
    for (subgraph const& s : subgraphs_)
      if (s.split) contender = with(contender, s.whole.choices(), s.apart);
    if (contender != best_ && p_.feasible(contender)) judge_.compare("all apart", contender, best_, s_.runs);
  }

  /// A subgraph that has been split for long enough: its minis have settled or spent their allowance, or the budget is
  /// nearly spent.
  subgraph* to_be_joined() {
    int kept_back = 0;
    for (subgraph const& s : subgraphs_) kept_back += s.split && s.cost < 0 ? trials_of_join : 0;
    for (subgraph& s : subgraphs_) {
      if (!s.split) continue;
      bool const settled = std::ranges::all_of(s.minis, [&](area const& m) { return m.settled(s_); });
      bool const spent = s_.how != method::exhaustive && s.used >= s.allowance;
      if (settled || spent || (s.cost < 0 && judge_.trials_left() <= kept_back)) return &s;
    }
    return nullptr;
  }

  /// The first contenders are the composed schedules, with the default's joins and without joins. If there are several
  /// places to join at, the next trials vary the structure of the better one; with one place, the search of the whole
  /// would learn as much. The observations of the minis are kept.
  void join(subgraph& s) {
    s.split = false;
    s.whole.begin(p_, s_, [this] { return best_; });
    challenge_best(s, joined_as_usual(s));
    double const before = s.whole.cost();
    std::optional<outcome> const o = challenge_best(s, s.apart);
    if (s.structure) s.structure->begin(p_, s_, [this] { return best_; });
    if (!o) return;
    for (observation const& x : s.seen)
      if (x.g != s.apart) s.whole.learn(x.g, before + o->ratio + x.cost - s.cost);
    s.seen.clear();
  }
  /// The joins of the best so far and, for each mini, the schedule that it expects to be best, where they fit together.
  /// The gain of a single mini is often too small to be proven in the whole network; the gain of all together must be
  /// proven.
  genes joined_as_usual(subgraph& s) {
    candidate result = best_;
    for (area& m : s.minis)
      if (candidate c = with(result, m.choices(), m.favourite().value()); p_.feasible(c)) result = std::move(c);
    return genes_of(result, s.whole.choices());
  }
  /// None if the budget is spent or `g` cannot be measured.
  std::optional<outcome> challenge_best(subgraph& s, genes const& g) {
    candidate const contender = with(best_, s.whole.choices(), g);
    if (contender == best_) return outcome{};
    if (!p_.feasible(contender)) return std::nullopt;
    std::optional<outcome> const o = challenge(judge_, s_, s.whole.name(), contender, best_);
    if (!o) return o;
    s.whole.book(g, *o);
    if (o->wins) best_ = contender, judge_.improved(-o->ratio);
    return o;
  }
  /// The number of places where minis can be joined, given the choices on joining.
  int places_in(std::vector<std::size_t> const& joins) const {
    return int(std::ranges::count_if(joins, [&](std::size_t c) { return p_.choices()[c].apart != choice::none; }));
  }
  bool structure_has_settled(subgraph const& s) const {
    return !s.structure || s.structure->settled(s_, patience_with_structure * places_in(s.structure->choices()));
  }
  void challenge_structure(subgraph& s, genes const& g) {
    candidate const contender = with(best_, s.structure->choices(), g);
    std::optional<outcome> const o = challenge_best(s, genes_of(contender, s.whole.choices()));
    if (o) s.structure->book(g, *o);
  }
  void challenge_composed(subgraph& s, area& mini, genes const& g) {
    candidate const contender = with(composed(s), mini.choices(), g);
    int const before = judge_.trials();
    std::optional<outcome> const o = challenge(judge_, s_, mini.name(), contender, composed(s));
    s.used += judge_.trials() - before;
    if (!o) return;
    mini.book(g, *o);
    s.seen.push_back({genes_of(contender, s.whole.choices()), s.cost + o->ratio});
    if (o->wins) s.apart = s.seen.back().g, s.cost += o->ratio;
  }

  /// Runs one trial for the region with the largest expected gain; false if none is left.
  bool one_trial() {
    subgraph* owner = nullptr;
    area* next = nullptr;
    auto const offer = [&](subgraph& s, area& a) {
      if (!next || a.spent().expected_gain() > next->spent().expected_gain()) owner = &s, next = &a;
    };
    for (subgraph& s : subgraphs_) {
      if (!s.split && structure_has_settled(s)) s.structure.reset();
      if (!s.split && s.structure) offer(s, *s.structure);
      else if (!s.split && !s.whole.exhausted() && s.whole.spent().idle() < hopeless) offer(s, s.whole);
      if (!s.split) continue;
      for (area& m : s.minis)
        if (!m.settled(s_)) offer(s, m);
    }
    if (!next) return false;
    std::optional<genes> const g = next->propose();
    if (!g) return true;
    if (owner->split) challenge_composed(*owner, *next, *g);
    else if (next == &owner->whole) challenge_best(*owner, *g);
    else challenge_structure(*owner, *g);
    return true;
  }

  problem& p_;
  settings s_;
  referee& judge_;
  candidate best_, start_;
  std::list<subgraph> subgraphs_;
};

}  // namespace ago::tuner
