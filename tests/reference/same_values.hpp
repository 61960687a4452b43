// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison of two runs of the executor.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace reference {

/// Checks the differences relative to the largest element of each output; 1e-9 allows for rounding in double.
inline void check_same(std::vector<std::vector<double>> const& got, std::vector<std::vector<double>> const& expected,
                       double tolerance = 1e-9) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    REQUIRE(got[k].size() == expected[k].size());
    double worst = 0, largest = 1e-30;
    for (std::size_t i = 0; i < got[k].size(); ++i) {
      worst = std::max(worst, std::abs(got[k][i] - expected[k][i]));
      largest = std::max(largest, std::abs(expected[k][i]));
    }
    REQUIRE(largest < 1e30);
    CAPTURE(k);
    CHECK(worst <= tolerance * largest);
  }
}

}  // namespace reference
