// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function with a known optimum instead of a network: several subgraphs of several minis whose choices interact, with
// local optima, noise, and an analytic model that is wrong by a fifth.
#pragma once

#include <ago/tuner/generator.hpp>
#include <ago/tuner/search/composition.hpp>
#include <ago/tuner/subject.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace synthetic {

using namespace ago::tuner;

/// A number in [0, 1) that depends only on the words.
template <class... Words>
double hashed(Words... words) {
  std::uint64_t h = 0;
  ((h = generator(h ^ std::uint64_t(words))()), ...);
  return generator(h).unit();
}

struct shape {
  int subgraphs = 3;
  int minis = 2;            ///< of each subgraph
  double noise = .02;       ///< standard deviation of one run, relative
  std::uint64_t seed = 1;   ///< of the noise and of the analytic model's errors
  bool repeatable = false;  ///< the noise depends only on the compared candidates: it is the same after a restart
};

/// A subgraph is a chain of minis with a register tile of `pixels` x `vectors` and a `block`. Neighbours are computed
/// separately, by rows, or by channels with a tile.
class landscape : public subject {
 public:
  explicit landscape(shape s = {}) : s_(s), noise_(s.seed) {
    for (int i = 0; i < s.subgraphs; ++i) {
      region whole{"block " + std::to_string(i + 1), {}, {}, 1. + i % 3};
      for (int k = 0; k < s.minis; ++k) {
        region mini{whole.name + ": part " + std::to_string(k + 1), {}, {}, 1};
        add(mini, "pixels", {"4", "6", "7", "8", "12", "14"}, 1);
        add(mini, "vectors", {"1", "2", "3", "4"}, 1);
        add(mini, "block", {"56", "112", "224"}, 1);
        whole.choices.insert(whole.choices.end(), mini.choices.begin(), mini.choices.end());
        whole.minis.push_back(minis_.size());
        minis_.push_back(mini);
      }
      for (int k = 1; k < s.minis; ++k) {
        add(whole, "join", {"apart", "rows", "channels"}, 1);
        choices_.back().apart = 0;
        add(whole, "tile", {"8", "16", "32", "64", "128"}, 2);
      }
      subgraphs_.push_back(whole);
    }
  }

  std::vector<choice> const& choices() const override { return choices_; }
  std::vector<region> const& minis() const override { return minis_; }
  std::vector<region> const& subgraphs() const override { return subgraphs_; }
  /// A tile of 14 x 4 has no kernel.
  bool feasible(candidate const& c) override {
    return std::ranges::all_of(minis_, [&](region const& m) { return c[m.choices[0]] != 5 || c[m.choices[1]] != 3; });
  }
  double predicted(candidate const& c) override {
    double sum = 0;
    for (std::size_t i = 0; i < subgraphs_.size(); ++i) {
      genes const g = genes_of(c, subgraphs_[i].choices);
      double wrong = 1;
      for (std::size_t k = 0; k < g.size(); ++k) wrong += .12 * (hashed(i, k, g[k], s_.seed) - .5);
      sum += seconds(i, g) * wrong * (.96 + .08 * hashed(key(g), s_.seed));
    }
    return sum;
  }
  comparison measure(candidate const& contender, candidate const& incumbent, int runs) override {
    ++measured;
    if (s_.repeatable) noise_ = generator(key(contender) ^ 31 * key(incumbent) ^ s_.seed);
    std::vector<double> a, b, differences;
    double const x = seconds(contender), y = seconds(incumbent);
    for (int i = 0; i < runs; ++i) {
      a.push_back(x * std::exp(s_.noise * normal()));
      b.push_back(y * std::exp(s_.noise * normal()));
      differences.push_back(std::log(b.back() / a.back()));
    }
    comparison result{median(a), median(b), *std::ranges::min_element(a), *std::ranges::min_element(b), .5, runs};
    result.confidence = confidence(differences);
    return result;
  }

  std::string network_name = "synthetic 1";
  std::string network() const override { return network_name; }
  std::string instruction_set() const override { return "neon64"; }

  static std::uint64_t signature_of(std::size_t mini) { return std::uint64_t(hashed(mini, 17) * 0x1p53); }
  bool has_signature(std::uint64_t signature) const override {
    std::size_t m = 0;
    while (m < minis_.size() && signature_of(m) != signature) ++m;
    return m < minis_.size();
  }
  std::vector<entry> table(candidate const& tuned) override {
    std::vector<entry> result;
    for (std::size_t m = 0; m < minis_.size(); ++m) {
      std::vector<std::size_t> const& own = minis_[m].choices;
      if (genes_of(tuned, own) == genes_of(usual(choices_), own)) continue;
      auto const number = [&](std::size_t i) { return std::stoi(choices_[own[i]].options[tuned[own[i]]]); };
      ago::schedule const best{.pixels = number(0), .vectors = number(1), .block = number(2)};
      result.push_back({{signature_of(m), best}, minis_[m].name});
    }
    return result;
  }
  std::vector<step_report> steps(candidate const& tuned, int) override {
    std::vector<step_report> result;
    candidate const before = usual(choices_);
    for (std::size_t i = 0; i < subgraphs_.size(); ++i) {
      std::vector<std::size_t> const& own = subgraphs_[i].choices;
      std::string structure;
      for (std::size_t k = std::size_t(s_.minis) * 3; k < own.size(); k += 2)
        structure += (structure.empty() ? "" : ", ") + choices_[own[k]].options[tuned[own[k]]];
      result.push_back(
          {subgraphs_[i].name, structure, seconds(i, genes_of(before, own)), seconds(i, genes_of(tuned, own))});
    }
    return result;
  }

  /// The time of a candidate without noise.
  double seconds(candidate const& c) const {
    double sum = 0;
    for (std::size_t i = 0; i < subgraphs_.size(); ++i) sum += seconds(i, genes_of(c, subgraphs_[i].choices));
    return sum;
  }
  /// The least time of any feasible candidate. Subgraphs do not interact; in a subgraph, only neighbours do.
  double optimum() const {
    double sum = 0;
    for (std::size_t i = 0; i < subgraphs_.size(); ++i) {
      std::vector<double> least;  // the least time of the chain up to a mini, for each of its tiles
      for (genes const& g : tiles()) least.push_back(mini(i, 0, g));
      for (int k = 1; k < s_.minis; ++k) {
        std::vector<double> next;
        for (genes const& second : tiles()) {
          double best = std::numeric_limits<double>::infinity();
          for (std::size_t f = 0; f < tiles().size(); ++f)
            for (std::uint8_t join = 0; join < 3; ++join)
              for (std::uint8_t tile = 0; tile < 5; ++tile)
                best = std::min(best, least[f] + saved(i, k, tiles()[f], second, join, tile));
          next.push_back(best + mini(i, k, second));
        }
        least = next;
      }
      sum += unit * subgraphs_[i].weight * *std::ranges::min_element(least);
    }
    return sum;
  }

  int measured = 0;

 private:
  void add(region& to, char const* what, std::vector<std::string> options, std::size_t usual) {
    to.choices.push_back(choices_.size());
    choices_.push_back({to.name + ": " + what, std::move(options), usual});
  }
  static std::uint64_t key(candidate const& c) {
    std::uint64_t h = 7;
    for (auto const x : c) h = generator(h ^ x)();
    return h;
  }
  /// Feasible register tiles and blocks.
  static std::vector<genes> const& tiles() {
    static std::vector<genes> const all = [] {
      std::vector<genes> result;
      for (std::uint8_t p = 0; p < 6; ++p)
        for (std::uint8_t v = 0; v < 4; ++v)
          for (std::uint8_t b = 0; b < 3; ++b)
            if (p != 5 || v != 3) result.push_back({p, v, b});
      return result;
    }();
    return all;
  }
  /// The time of mini k of subgraph i alone, in units.
  static double mini(std::size_t i, int k, genes const& g) {
    return 1 + .3 * hashed(i, k, g[0], g[1]) + .2 * hashed(i, k + 100, g[1], g[2]);
  }
  /// The gain or loss by joining minis k - 1 and k.
  static double saved(std::size_t i, int k, genes const& a, genes const& b, int join, int tile) {
    if (join == 0) return 0;
    if (join == 1) return -.3 + .4 * hashed(i, k + 200, a[1], b[1]);
    return -.6 + .5 * hashed(i, k + 300, tile, a[1]) + .3 * hashed(i, k + 400, tile, b[0]);
  }
  double seconds(std::size_t i, genes const& g) const {
    double sum = 0;
    genes before;
    for (int k = 0; k < s_.minis; ++k) {
      genes const own(g.begin() + 3 * k, g.begin() + 3 * k + 3);
      sum += mini(i, k, own);
      std::size_t const join = std::size_t(3 * s_.minis + 2 * (k - 1));
      if (k > 0) sum += saved(i, k, before, own, g[join], g[join + 1]);
      before = own;
    }
    return unit * subgraphs_[i].weight * sum;
  }
  /// A normal number by Irwin and Hall's approximation.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += noise_.unit();
    return sum;
  }
  static double median(std::vector<double> v) {
    std::ranges::sort(v);
    return (v[v.size() / 2] + v[(v.size() - 1) / 2]) / 2;
  }
  /// The confidence that the mean of the differences is above zero.
  static double confidence(std::vector<double> const& differences) {
    double const n = double(differences.size());
    double mean = 0, variance = 1e-30;
    for (double const d : differences) mean += d / n;
    for (double const d : differences) variance += (d - mean) * (d - mean) / (n - 1);
    return .5 * std::erfc(-mean / std::sqrt(2 * variance / n));
  }

  static constexpr double unit = 1e-3;
  shape s_;
  generator noise_;
  std::vector<choice> choices_;
  std::vector<region> minis_, subgraphs_;
};

}  // namespace synthetic
