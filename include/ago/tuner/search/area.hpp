// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region under search: its choices, its search, its account, and its state.
#pragma once

#include <ago/ir/enumerators.hpp>
#include <ago/tuner/referee.hpp>
#include <ago/tuner/search/budget.hpp>
#include <ago/tuner/search/composition.hpp>
#include <ago/tuner/search/evolution.hpp>
#include <ago/tuner/settings.hpp>

#include <memory>
#include <string>
#include <utility>

namespace ago::tuner {

inline std::unique_ptr<search> make_search(method how, space where, std::uint64_t seed) {
  switch (how) {
    case method::random: return std::make_unique<random_search>(std::move(where), seed);
    case method::exhaustive: return std::make_unique<exhaustive_search>(std::move(where));
    case method::evolutionary: return std::make_unique<evolutionary_search>(std::move(where), seed);
  }
  no_case_for_this_value();
}

/// Costs are logarithms of seconds, relative to the start of the area, whose cost is 0.
class area {
 public:
  /// `share`: of the network's weight.
  area(std::string name, std::vector<std::size_t> choices, double share)
      : name_(std::move(name)), choices_(std::move(choices)), spent_(share) {}
  area(area const&) = delete;
  area& operator=(area const&) = delete;

  /// The search begins at `rest()`; its candidates are the current value of `rest()` with this area's genes.
  void begin(problem& p, settings const& s, std::function<candidate()> const& rest) {
    space where;
    where.spread = account::hope * spent_.share();
    for (std::size_t const i : choices_) {
      where.sizes.push_back(p.choices()[i].options.size());
      where.joins.push_back(
          std::ranges::none_of(p.minis(), [&](region const& m) { return std::ranges::count(m.choices, i) != 0; }));
    }
    where.feasible = [this, &p, rest](genes const& g) { return p.feasible(with(rest(), choices_, g)); };
    // Changes that other areas have made in the meantime affect both predictions, and cancel out.
    where.analytic = [this, &p, rest, start = genes_of(rest(), choices_)](genes const& g) {
      return std::log(p.predicted(with(rest(), choices_, g)) / p.predicted(with(rest(), choices_, start)));
    };
    std::uint64_t seed = s.seed;
    for (char const c : name_) seed = generator(seed ^ std::uint8_t(c))();
    how_ = make_search(s.how, std::move(where), seed);
    how_->learn(genes_of(rest(), choices_), cost_);
  }

  std::string const& name() const { return name_; }
  std::vector<std::size_t> const& choices() const { return choices_; }
  account const& spent() const { return spent_; }
  double cost() const { return cost_; }
  bool exhausted() const { return exhausted_; }

  std::optional<genes> propose() {
    std::optional<genes> next = how_->propose();
    exhausted_ = !next;
    return next;
  }
  void learn(genes const& g, double cost) { how_->learn(g, cost); }
  std::optional<genes> favourite() { return how_->favourite(); }
  /// Records a trial of `g` against the best: its cost, and whether it is now the best.
  void book(genes const& g, outcome const& o) {
    learn(g, cost_ + o.ratio);
    spent_.book(o.wins ? -o.ratio : 0);
    if (o.wins) cost_ += o.ratio;
  }
  bool settled(settings const& s) const { return settled(s, patience(choices_.size())); }
  bool settled(settings const& s, int trials_without_gain) const {
    return exhausted_ || (s.how != method::exhaustive && spent_.idle() >= trials_without_gain);
  }

 private:
  std::string name_;
  std::vector<std::size_t> choices_;
  account spent_;
  std::unique_ptr<search> how_;
  double cost_ = 0;
  bool exhausted_ = false;
};

}  // namespace ago::tuner
