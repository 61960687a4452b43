// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of random networks in double precision, compared with differences of the loss. The environment variables
// AGO_GRADIENT_NETWORKS and AGO_GRADIENT_SEED say of how many, and which is the first. As all expressions are kept, and
// compared with new ones, 5000 networks take less time in ten runs of 500.
#include "run_time_step.hpp"

#include <doctest/doctest.h>
#include <reference/executor.hpp>
#include <reference/functions.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

#include "random_network.hpp"

using namespace train_test;

namespace {

using step_graph = ago::ir::graph<4096, 12288, 80>;

/// What has been compared. Errors are parts of the largest gradient of the network, and those of rows of parameters
/// whose largest one is at least a thousandth of that, of theirs. Numbers in expressions are floats, so that where
/// gradients cancel, as those of a bias before a batch norm, 1e-7 of what cancels may be left.
struct tally {
  int networks = 0, rows = 0, at_kinks = 0;
  long gradients = 0;
  double worst = 0, worst_in_row = 0;
};

/// A training step with its data.
class random_step {
 public:
  explicit random_step(unsigned seed) : net_(seed), step_(made()) {
    auto const& g = *step_.graph;
    for (int k = 0; k < g.input_count; ++k) {
      inputs_.emplace_back(std::size_t(g.nodes[k].out.count()));
      for (float& x : inputs_.back()) x = net_.number();
    }
    int const classes = net_.graph->nodes[net_.graph->outputs[0]].out.c;
    for (float& x : inputs_[1]) x = takes_classes_ ? float(net_.any(0, classes - 1)) : std::fabs(x);
    inputs_[2] = {1};
    for (int const m : step_.masks)
      for (float& x : inputs_[std::size_t(m)]) x = net_.chance(25) ? 0.f : 4 / 3.f;
    parameters_.resize(std::size_t(g.parameters));
    for (float& x : parameters_) x = net_.number();
    loss_only_ = std::make_unique<step_graph>(g);
    loss_only_->node_count = g.outputs[0] + 1;
    loss_only_->output_count = 1;
  }
  /// The operators, for messages.
  std::string layers() const {
    std::string r;
    for (int v = 1; v < net_.graph->node_count; ++v) r += name_of(net_.graph->nodes[v].kind) + std::string(" ");
    return r;
  }
  ago::ir::diagnostic const& misfit() const { return step_.graph->bad; }

  void compare(tally& all) {
    auto const gradients = reference::run(*step_.graph, parameters_, inputs_);
    double largest = 0;
    for (int i = 0; i < net_.rows; ++i)
      if (is_trained(i)) largest = std::max(largest, largest_of(gradients[std::size_t(i) + 1]));
    for (int i = 0; i < net_.rows; ++i) {
      CAPTURE(i);
      if (is_trained(i)) compare_row(i, gradients[std::size_t(i) + 1], largest, all);
    }
    ++all.networks;
  }

 private:
  run_time_step<random_network, step_graph> made() {
    switch (net_.any(0, 3)) {
      case 0: takes_classes_ = true; return {net_, ago::cross_entropy};
      case 1: return {net_, ago::binary_cross_entropy};
      case 2: return {net_, ago::huber};
      default: return {net_, ago::mean_squared_error};
    }
  }
  bool is_trained(int i) const { return step_.rows.use[i] == ago::learning::row_use::trained; }
  static double largest_of(std::vector<double> const& v) {
    double r = 0;
    for (double const x : v) r = std::max(r, std::fabs(x));
    return r;
  }
  double loss() const { return reference::run(*loss_only_, parameters_, inputs_)[0][0]; }

  /// All parameters of a row change at once, each up or down: a wrong gradient of any of them shows.
  void compare_row(int i, std::vector<double> const& gradient, double largest, tally& all) {
    std::vector<float> way;
    double expected = 0;
    for (double const g : gradient) {
      way.push_back(net_.chance(50) ? 1.f : -1.f);
      expected += double(way.back()) * g;
    }
    int const first = net_.table[i].offset;
    auto const moved = [&](float by) {
      auto const before = parameters_;
      for (std::size_t k = 0; k < way.size(); ++k) parameters_[std::size_t(first) + k] += by * way[k];
      double const y = loss();
      parameters_ = before;
      return y;
    };
    auto const slope = [&](float h) { return (moved(h) - moved(-h)) / (2 * double(h)); };
    // Richardson's extrapolation removes the error in h^2. If that of halved steps differs, there is a kink.
    float const h = 1.f / 4096;
    double const wide = slope(h), middle = slope(h / 2), narrow = slope(h / 4);
    double const coarse = (4 * middle - wide) / 3, fine = (4 * narrow - middle) / 3;
    double const of_row = largest_of(gradient), scale = std::max({of_row, 1e-3 * largest, 1e-9});
    if (std::fabs(coarse - fine) > 2e-7 * scale) {
      ++all.at_kinks;
      return;
    }
    double const error = std::fabs(fine - expected);
    CHECK(error < 1e-6 * std::max(largest, 1e-9));
    all.worst = std::max(all.worst, error / std::max(largest, 1e-9));
    if (of_row == scale) {
      CHECK(error < 1e-4 * of_row);
      all.worst_in_row = std::max(all.worst_in_row, error / of_row);
    }
    ++all.rows;
    all.gradients += long(gradient.size());
  }

  random_network net_;
  bool takes_classes_ = false;
  run_time_step<random_network, step_graph> step_;
  std::vector<std::vector<float>> inputs_;
  std::vector<float> parameters_;
  std::unique_ptr<step_graph> loss_only_;
};

int number_from(char const* variable, int otherwise) {
  char const* const text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

TEST_CASE("gradients of random networks are the differences of the loss") {
  reference::define_functions();
  int const networks = number_from("AGO_GRADIENT_NETWORKS", 60);
  tally all;
  for (int seed = number_from("AGO_GRADIENT_SEED", 1); all.networks < networks; ++seed) {
    CAPTURE(seed);
    random_step step{unsigned(seed)};
    CAPTURE(step.layers());
    REQUIRE(step.misfit().what == ago::ir::fault::none);
    step.compare(all);
  }
  MESSAGE(all.gradients, " gradients of ", all.networks, " networks: largest error ", all.worst, ", in rows ",
          all.worst_in_row, "; ", all.at_kinks, " of ", all.rows + all.at_kinks, " rows of parameters at kinks");
  CHECK(all.at_kinks < all.rows / 5);
}
