// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether two engines compute the same results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace bench {

/// Largest tolerated difference, relative to the largest output. Results of correct engines, which sum in different
/// orders, differ by a few 1e-6; a forgotten bias makes 1e-2 and more.
inline constexpr double tolerance = 1e-4;

/// Largest difference relative to the largest expected output; NaN if any value is NaN.
inline double difference(std::span<float const> expected, std::span<float const> actual) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double(expected[i])));
    double const d = std::abs(double(expected[i]) - double(actual[i]));
    if (!(d <= worst)) worst = d;
    if (std::isnan(worst)) return worst;
  }
  return worst / largest;
}

}  // namespace bench
