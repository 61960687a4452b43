// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Search methods for a region: what all have in common, and the two that do not learn.
#pragma once

#include <ago/tuner/search/space.hpp>

#include <optional>
#include <set>
#include <utility>

namespace ago::tuner {

/// Proposes combinations to measure, none of them twice.
class search {
 public:
  explicit search(space where) : where_(std::move(where)) {}
  virtual ~search() = default;

  /// The next combination to measure; none if no new one is feasible.
  std::optional<genes> propose() {
    std::optional<genes> next = choose();
    if (next) known_.insert(*next);
    return next;
  }
  /// Records the cost of a combination, proposed or not: the logarithm of seconds, up to a constant.
  void learn(genes const& g, double cost) {
    known_.insert(g);
    take(g, cost);
    if (!cheapest_ || cost < least_) cheapest_ = g, least_ = cost;
  }
  /// The measured combination that is expected to be the cheapest, proven or not.
  virtual std::optional<genes> favourite() { return cheapest_; }

 protected:
  virtual std::optional<genes> choose() = 0;
  virtual void take(genes const&, double) {}

  bool is_new(genes const& g) const { return !known_.contains(g) && where_.feasible(g); }
  space const& where() const { return where_; }

 private:
  space where_;
  std::set<genes, earlier> known_;
  std::optional<genes> cheapest_;
  double least_ = 0;
};

/// Every feasible combination in lexicographical order.
class exhaustive_search : public search {
 public:
  using search::search;

 private:
  std::optional<genes> choose() override {
    while (!done_) {
      if (next_.empty()) next_.resize(where().sizes.size());
      else if (!where().advance(next_)) break;
      if (is_new(next_)) return next_;
    }
    done_ = true;
    return std::nullopt;
  }

  genes next_;
  bool done_ = false;
};

/// Feasible combinations, all equally likely.
class random_search : public search {
 public:
  random_search(space where, std::uint64_t seed) : search(std::move(where)), random_(seed) {}

 private:
  std::optional<genes> choose() override {
    for (int attempt = 0; attempt < 2000; ++attempt)
      if (genes g = where().any(random_); is_new(g)) return g;
    // Nearly all are known: take the next new one after a random combination.
    if (where().volume() > 1e5) return std::nullopt;
    genes g = where().any(random_);
    for (double left = where().volume(); left > 0; --left) {
      if (is_new(g)) return g;
      where().advance(g);
    }
    return std::nullopt;
  }

  generator random_;
};

}  // namespace ago::tuner
