// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last value of a graph, and its comparison with numbers worked out by hand.
#pragma once

#include <doctest/doctest.h>

#include "builder.hpp"
#include "executor.hpp"

namespace reference {

inline std::vector<double> outputs_of(builder& b, std::vector<float> const& parameters,
                                      std::vector<std::vector<float>> const& inputs) {
  b.output(b.graph.node_count - 1);
  return run(b.graph, parameters, inputs)[0];
}

inline void check_close(std::vector<double> const& got, std::vector<double> const& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-12).scale(1));
  }
}

}  // namespace reference
