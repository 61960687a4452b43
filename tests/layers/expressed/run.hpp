// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of one input in guarded memory, on random numbers.
#pragma once

#include <ago/ago.hpp>
#include <ago/operators.hpp>
#include <differential/guarded_run.hpp>
#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace operators_test {

/// Few different numbers, so that some are equal.
inline std::vector<float> some_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> r(n);
  for (float& x : r) x = float(int(random() % 41) - 20) / 8;
  return r;
}

/// The outputs of a network, one after the other.
template <auto const& Net, ago::options Options>
std::vector<float> run(std::vector<float> const& weights, std::vector<float> const& in) {
  using tested = ago::program<Net, ago::untuned, Options>;
  REQUIRE(tested::parameter_count == weights.size());
  differential::guarded_run r(ago::runtime::any_program::of<tested>(), weights, {in}, differential::edge::end);
  tested::run(r.memory());
  CHECK(r.intact());
  return r.results();
}

/// How many numbers differ by more than float32's rounding of sums.
inline int differences(std::vector<float> const& y, std::vector<double> const& expected) {
  int wrong = y.size() != expected.size();
  for (std::size_t i = 0; i < y.size() && i < expected.size(); ++i)
    wrong += !(std::abs(y[i] - expected[i]) <= 1e-5 * (1 + std::abs(expected[i])));
  return wrong;
}

/// Runs a network on the native instruction set and on scalars; both must be as expected.
template <auto const& Net>
void check_values(std::vector<float> const& weights, std::vector<float> const& in,
                  std::vector<double> const& expected) {
  CHECK(differences(run<Net, ago::options{}>(weights, in), expected) == 0);
  CHECK(differences(run<Net, ago::options{.target = ago::isa::scalar}>(weights, in), expected) == 0);
}

}  // namespace operators_test
