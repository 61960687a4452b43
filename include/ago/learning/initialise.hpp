// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters to start from.
#pragma once

#include <ago/learning/random.hpp>
#include <ago/network/parameters.hpp>

#include <cmath>
#include <span>

namespace ago::learning {

/// Fills the parameters of a network as PyTorch initialises them, from other random numbers: weights and biases
/// uniformly within 1 / sqrt(elements that a result sums up), norms as identities, tables of embeddings normally. The
/// same on every machine for the same seed, but for the rounding of logarithms and cosines in embeddings.
template <int N>
void initialise(parameter_table<N> const& table, std::span<float> parameters, std::uint64_t seed) {
  philox const random(seed);
  float bound = 1;
  for (int i = 0; i < N; ++i) {
    parameter const& p = table[i];
    if (p.role == role::weight) {
      int const summed = p.rank > 1 ? p.count() / p.dims[0] : p.count();
      bound = 1 / std::sqrt(float(summed));
    }
    for (int k = 0; k < p.count(); ++k) {
      float& x = parameters[std::size_t(p.offset + k)];
      auto const bits = random(std::uint64_t(k), std::uint64_t(i));
      float const u = 2 * philox::uniform(bits.of[0]) - 1;
      switch (p.role) {
        case role::gamma:
        case role::variance: x = 1; break;
        case role::beta:
        case role::mean: x = 0; break;
        case role::weight:
          x = u * bound;
          if (p.kind == op::prelu) x = .25f;
          if (p.kind == op::embedding)  // Box and Muller
            x = std::sqrt(-2 * std::log(1 - philox::uniform(bits.of[0]))) *
                std::cos(6.2831853f * philox::uniform(bits.of[1]));
          break;
        case role::bias: x = u * bound; break;
      }
    }
  }
}

}  // namespace ago::learning

namespace ago {
using learning::initialise;
}  // namespace ago
