// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a problem that one search sees: the choices of a region, with everything else fixed.
#pragma once

#include <ago/tuner/generator.hpp>
#include <ago/tuner/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ago::tuner {

/// The chosen options of a region's choices, in the order of region::choices.
using genes = std::vector<std::uint8_t>;

/// The combinations that a search may propose.
struct space {
  std::vector<std::size_t> sizes;                ///< number of options of each choice, at least 1
  std::vector<bool> joins;                       ///< which choices are on joining minis
  double spread = .1;                            ///< of the logarithms of seconds, before anything is known
  std::function<bool(genes const&)> feasible;    ///< can it be measured?
  std::function<double(genes const&)> analytic;  ///< logarithm of the predicted seconds, up to a constant

  /// Number of combinations, feasible or not.
  double volume() const {
    double product = 1;
    for (std::size_t const n : sizes) product *= double(n);
    return product;
  }
  genes any(generator& random) const {
    genes result;
    for (std::size_t const n : sizes) result.push_back(std::uint8_t(random.below(n)));
    return result;
  }
  /// The next combination in lexicographical order; false after the last one.
  bool advance(genes& g) const {
    for (std::size_t i = sizes.size(); i-- > 0;) {
      if (++g[i] < sizes[i]) return true;
      g[i] = 0;
    }
    return false;
  }
};

}  // namespace ago::tuner
