// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of ShuffleNet-V2 in double precision, compared with PyTorch's. In single precision they depend on rounding:
// batch norms of few pixels amplify it.
#include <doctest/doctest.h>
#include <networks/shufflenet_v2.hpp>
#include <reference/executor.hpp>
#include <reference/functions.hpp>

#include <cmath>
#include <span>

#include "networks.hpp"
#include "pytorch_gradients.hpp"
#include "recorded_network.hpp"
#include "run_time_step.hpp"

using namespace train_test;

namespace {

constexpr int images = 2;

struct shufflenet : recorded_network<256, 512, 320> {
  shufflenet() {
    auto net = networks::shufflenet_v2<64>;
    net.inputs[0].n = images;
    tracing::recorder to;
    lowering::record(to, net);
    take(to);
  }
};
using step_graph = ir::graph<4096, 12288, 320>;

}  // namespace

TEST_CASE("gradients of ShuffleNet-V2 are PyTorch's") {
  reference::define_functions();
  shufflenet const net;
  run_time_step<shufflenet, step_graph> const step{net, cross_entropy};
  generator random(1);
  std::vector<float> const parameters = filled(std::span(net.table.rows, std::size_t(net.rows)), random);
  std::vector<std::vector<float>> inputs;
  for (int k = 0; k < step.graph->input_count; ++k) inputs.emplace_back(step.graph->nodes[k].out.count());
  for (float& x : inputs[0]) x = float(random.value());
  for (float& x : inputs[1]) x = float(random.next() % 1000);
  inputs[2] = {1};
  auto const out = reference::run(*step.graph, parameters, inputs);
  CHECK(out[0][0] == doctest::Approx(pytorch::shufflenet_loss).epsilon(1e-9));

  // Each row of parameters in two directions: one in which all change by as much, up or down, and its own.
  int found = 0;
  double worst = 0;
  for (int i = 0; i < net.rows; ++i) {
    if (step.rows.use[i] != learning::row_use::trained) continue;
    double slope = 0, square = 0;
    for (double const g : out[std::size_t(i) + 1]) {
      slope += random.next() % 2 ? g : -g;
      square += g * g;
    }
    REQUIRE(found < int(std::size(pytorch::shufflenet_gradients)));
    auto const& expected = pytorch::shufflenet_gradients[found++];
    worst = std::max({worst, std::fabs(slope - expected[0]), std::fabs(std::sqrt(square) - expected[1])});
  }
  CHECK(found == int(std::size(pytorch::shufflenet_gradients)));
  MESSAGE("largest difference ", worst / pytorch::shufflenet_largest, " of the largest gradient");
  CHECK(worst < 1e-5 * pytorch::shufflenet_largest);
}
