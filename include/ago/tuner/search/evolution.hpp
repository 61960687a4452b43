// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The evolutionary search: a learned cost model ranks many children, and only the most promising one is measured.
#pragma once

#include <ago/tuner/search/cost_model.hpp>
#include <ago/tuner/search/search.hpp>

#include <algorithm>
#include <limits>

namespace ago::tuner {

/// Parents are the cheapest combinations measured. A child takes each choice from one of two parents, and a few at
/// random; some children have no parents. The child with the least mean - courage * deviation is measured.
class evolutionary_search : public search {
 public:
  evolutionary_search(space where, std::uint64_t seed)
      : search(std::move(where)), random_(seed), model_(this->where().joins, this->where().spread) {}

  /// By the model, with caution: a time that was low by chance counts less if similar combinations are slower.
  std::optional<genes> favourite() override {
    std::optional<genes> best;
    double least = std::numeric_limits<double>::infinity();
    for (individual const& x : elite_)
      if (estimate const e = model_(x.g, where().analytic(x.g)); e.mean + e.deviation < least)
        least = e.mean + e.deviation, best = x.g;
    return best;
  }

 private:
  static constexpr std::size_t parents = 8, litter = 96;
  static constexpr double all_at_once = 256;  ///< spaces of up to this size are ranked as a whole

  struct individual {
    genes g;
    double cost;
  };

  std::optional<genes> choose() override {
    double const courage = ++proposals_ % 5 == 0 ? 3 : 1;
    std::optional<genes> best;
    double least = std::numeric_limits<double>::infinity();
    for (genes& g : children()) {
      double const analytic = where().analytic(g);
      estimate const e = model_.empty() ? estimate{analytic, 0} : model_(g, analytic);
      if (double const score = e.mean - courage * e.deviation; score < least) least = score, best = std::move(g);
    }
    return best;
  }

  void take(genes const& g, double cost) override {
    model_.learn(g, where().analytic(g), cost);
    auto const place =
        std::upper_bound(elite_.begin(), elite_.end(), cost, [](double c, individual const& x) { return c < x.cost; });
    elite_.insert(place, {g, cost});
    if (elite_.size() > parents) elite_.pop_back();
  }

  std::set<genes, earlier> all() const {
    std::set<genes, earlier> result;
    genes g(where().sizes.size());
    do
      if (is_new(g)) result.insert(g);
    while (where().advance(g));
    return result;
  }

  /// Feasible combinations that are not yet known, in an order that depends only on themselves.
  std::vector<genes> children() {
    std::set<genes, earlier> found;
    if (where().volume() <= all_at_once) found = all();
    else
      for (std::size_t attempt = 0; found.size() < litter && attempt < 20 * litter; ++attempt)
        if (genes g = attempt % 4 == 3 || elite_.empty() ? where().any(random_) : child(); is_new(g)) found.insert(g);
    return {found.begin(), found.end()};
  }

  genes child() {
    genes g = parent();
    if (random_.below(2)) {
      genes const& other = parent();
      for (std::size_t i = 0; i < g.size(); ++i)
        if (random_.below(2)) g[i] = other[i];
    }
    do {
      std::size_t const i = random_.below(g.size());
      g[i] = std::uint8_t(random_.below(where().sizes[i]));
    } while (random_.below(3));
    return g;
  }
  /// A random parent; better ones are more likely.
  genes const& parent() { return elite_[std::min(random_.below(elite_.size()), random_.below(elite_.size()))].g; }

  generator random_;
  cost_model model_;
  std::vector<individual> elite_;  ///< cheapest first
  int proposals_ = 0;
};

}  // namespace ago::tuner
