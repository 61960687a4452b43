// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learns the cost of combinations from measurements: a Gaussian process around the analytic model.
#pragma once

#include <ago/tuner/search/cholesky.hpp>
#include <ago/tuner/search/space.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace ago::tuner {

/// An expected cost and its standard deviation.
struct estimate {
  double mean = 0, deviation = 0;
};

/// cost(g) = a + trust * analytic(g) + r(g) + noise, where costs are logarithms of seconds and r(g) is what the
/// analytic model does not predict. r is correlated between similar combinations: the correlation is a product over the
/// choices, with a factor `kinship` for each choice in which two combinations differ (another factor for choices on
/// joining minis). The trust in the analytic model, the scale of r, the kinships and the noise are those, of a few
/// values each, that make the measured costs most likely.
class cost_model {
 public:
  /// `joins`: which choices are on joining minis. `spread`: expected deviation of costs before anything is measured.
  cost_model(std::vector<bool> joins, double spread) : joins_(std::move(joins)), spread_(spread) {}

  /// `analytic`: logarithm of the predicted seconds.
  void learn(genes const& g, double analytic, double cost) {
    if (seen_.empty()) origin_ = analytic;
    seen_.push_back({g, analytic - origin_, cost});
    if (seen_.size() > most) seen_.erase(std::max_element(seen_.begin(), seen_.end(), cheaper));
    ++learnt_, fitted_ = false;
  }
  bool empty() const { return seen_.empty(); }

  estimate operator()(genes const& g, double analytic) {
    if (!fitted_) fit();
    observation const x{g, analytic - origin_, 0};
    std::vector<double> covariances;
    for (observation const& o : seen_) covariances.push_back(covariance(x, o));
    double mean = offset_ + traits_.trust * x.analytic;
    for (std::size_t i = 0; i < seen_.size(); ++i) mean += scale_ * covariances[i] * solved_[i];
    std::vector<double> const half = factor_.solve_lower(covariances);
    double variance = covariance(x, x);
    for (double const h : half) variance -= h * h;
    return {mean, scale_ * std::sqrt(std::max(variance, 0.))};
  }

 private:
  struct observation {
    genes g;
    double analytic, cost;
  };
  struct traits {
    double trust = 1, kinship = .7, kinship_of_joins = .4;
    double noise = .1;  ///< variance, in units of scale_ squared, which is that of r
  };
  static constexpr std::size_t most = 160;  ///< observations: the costliest are dropped first

  static bool cheaper(observation const& a, observation const& b) { return a.cost < b.cost; }

  double covariance(observation const& a, observation const& b) const {
    double relation = 1;
    for (std::size_t i = 0; i < a.g.size(); ++i)
      if (a.g[i] != b.g[i]) relation *= joins_[i] ? traits_.kinship_of_joins : traits_.kinship;
    return relation + 1;  // a is unknown
  }

  void fit() {
    if (4 * learnt_ > 5 * judged_) judge();
    if (factor()) solve();
    fitted_ = true;
  }
  double rest(observation const& o) const { return o.cost - traits_.trust * o.analytic; }
  /// The expected value far from all observations, and the spread around it. It is optimistic: as cheap as the cheapest
  /// observation. The mean would be too pessimistic about combinations with few similar observations, such as other
  /// ways to join than those with which the minis were tuned.
  void centre() {
    constexpr double faith = 4;  // weight of the initial spread, in observations
    double const n = double(seen_.size());
    double sum = 0, squares = faith * spread_ * spread_;
    for (observation const& o : seen_) sum += rest(o) / n;
    for (observation const& o : seen_) squares += (rest(o) - sum) * (rest(o) - sum);
    offset_ = rest(*std::ranges::min_element(seen_, {}, [this](observation const& o) { return rest(o); }));
    scale_ = std::max(std::sqrt(squares / (faith + n)), 1e-6);
  }
  /// Estimates the most likely traits.
  void judge() {
    judged_ = learnt_;
    double best = -std::numeric_limits<double>::infinity();
    traits likeliest;
    for (double const kinship : {.5, .7, .85, .93})
      for (double const of_joins : {.3, .6, .8})
        for (double const noise : {.01, .1, .5}) {
          traits_ = {.kinship = kinship, .kinship_of_joins = of_joins, .noise = noise};
          if (!factor()) continue;
          for (double const trust : {0., .5, 1.}) {  // the covariances do not depend on it
            traits_.trust = trust;
            if (double const l = solve(); l > best) best = l, likeliest = traits_;
          }
        }
    traits_ = likeliest;
  }
  /// Factors the matrix of covariances; false if it is singular.
  bool factor() {
    std::size_t const n = seen_.size();
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) matrix[i * n + j] = covariance(seen_[i], seen_[j]);
      matrix[i * n + i] += traits_.noise;
    }
    return factor_.set(std::move(matrix), n);
  }
  /// Fits the rest, with the matrix as factored last. Returns the logarithm of the likelihood, up to a constant.
  double solve() {
    centre();
    std::size_t const n = seen_.size();
    std::vector<double> open(n);
    for (std::size_t i = 0; i < n; ++i) open[i] = (rest(seen_[i]) - offset_) / scale_;
    std::vector<double> const half = factor_.solve_lower(open);
    double squares = 0;
    for (double const h : half) squares += h * h;
    solved_ = factor_.solve_upper(half);
    return -.5 * squares - factor_.log_root_determinant() - double(n) * std::log(scale_);
  }

  std::vector<bool> joins_;
  double spread_;
  std::vector<observation> seen_;
  traits traits_;
  cholesky factor_;
  std::vector<double> solved_;  ///< inverse covariance times rest
  double origin_ = 0, offset_ = 0, scale_ = 1;
  std::size_t learnt_ = 0, judged_ = 0;  ///< observations in total; and when the traits were estimated
  bool fitted_ = false;
};

}  // namespace ago::tuner
