// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tolerance of the comparison with the reference, and the compared networks.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "caller.hpp"
#include "subject.hpp"

namespace differential {

/// |result - reference| may be this many times the executor's estimate of float32's error. The estimate assumes
/// independent roundings and correctly rounded library functions; the largest factor seen is 5.
inline constexpr double tolerance = 10;
/// With Winograd: a small result may have large neighbours in its tile, which the estimate does not consider.
inline constexpr double winograd_tolerance = 40;

inline bool identical(results const& a, results const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto const& x, auto const& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
  });
}

/// The largest deviation over all outputs, in units of the estimated error; reports the first wrong element.
inline double compare(results const& got, std::vector<reference::value> const& expected, double allowed) {
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    reference::value const& e = expected[k];
    std::size_t wrong = 0, first = 0;
    for (std::size_t i = got[k].size(); i-- > 0;) {
      double const off = std::abs(got[k][i] - e.exact[i]), smallest = std::numeric_limits<float>::min();
      if (off <= allowed * e.error[i] + smallest) {
        if (off > smallest) worst = std::max(worst, off / e.error[i]);
      } else {
        ++wrong;
        first = i;
      }
    }
    if (wrong == 0) continue;
    long const c = long(first) % e.extents.c, pixel = long(first) / e.extents.c;
    FAIL_CHECK("output " << k << " {" << e.extents.n << ", " << e.extents.h << ", " << e.extents.w << ", "
                         << e.extents.c << "}: " << wrong << " wrong elements, first: pixel " << pixel << " channel "
                         << c << ": " << got[k][first] << ", not " << e.exact[first] << " +- " << e.error[first]);
  }
  return worst;
}

/// The generated networks and the large ones.
std::vector<subject> const& all_subjects();

/// Registers the functions that generated networks call with the reference executor.
void define_functions();

}  // namespace differential
