// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of a model built by hand: imported, recorded as the written header is, and computed by the tests' own
// executor.
#pragma once

#include "import/write_header.hpp"
#include "lowered.hpp"
#include "reference/executor.hpp"
#include "reference/functions.hpp"

#include <ago/network/lowering.hpp>

#include <cmath>
#include <memory>
#include <random>

namespace ago_test {

using results = std::vector<std::vector<double>>;

/// Each output in row-major order.
inline results executed(network const& net, std::vector<floats> const& inputs) {
  reference::define_functions();
  ago::importer::lowered_model const lowered = lowered_of(net);
  ago::importer::program_text const text = ago::importer::written_text(lowered);
  ago::tracing::recorder made;
  ago::importer::call_list const list = in_order_of(text, lowered.network);
  ago::importer::record(list, made);
  using graph = ago::ir::graph<4096, 8192, 8>;
  REQUIRE(made.nodes.size <= graph::node_capacity);
  auto const g = std::make_unique<graph>();
  ago::lowering::copy_to(*g, made);
  return reference::run(*g, text.weights, inputs);
}

inline floats random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> spread(-1, 1);
  floats r(std::size_t(count), 0.f);
  for (float& x : r) x = spread(random);
  return r;
}

/// Checks that output `k` has these elements.
inline void check_equal(results const& got, std::vector<double> const& expected, std::size_t k = 0) {
  REQUIRE(got.at(k).size() == expected.size());
  double largest = 1e-3, worst = 0;
  for (double x : expected) largest = std::max(largest, std::fabs(x));
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::fabs(got[k][i] - expected[i]));
  CHECK(worst <= 1e-6 * largest);
}

}  // namespace ago_test
