// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of one input in guarded memory, on random numbers.
#pragma once

#include <ago/ago.hpp>
#include <ago/operators.hpp>
#include <differential/guarded.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <random>
#include <span>
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
  using differential::guarded_floats;
  auto const where = differential::edge::end;
  guarded_floats packed(tested::packed_floats, where), arena(tested::arena_floats, where), from(in.size(), where);
  std::copy(in.begin(), in.end(), from.data());
  REQUIRE(tested::parameter_count == weights.size());
  tested::pack(std::span<float const, tested::parameter_count>(weights),
               std::span<float, tested::packed_floats>(packed.data(), tested::packed_floats));
  std::deque<guarded_floats> out;
  std::vector<float*> results;
  for (int k = 0; k < tested::outputs; ++k) results.push_back(out.emplace_back(tested::output_size(k), where).data());
  float const* const inputs[] = {from.data()};
  tested::run({packed.data(), arena.data(), inputs, results.data()});
  std::vector<float> all;
  for (auto const& o : out) {
    CHECK(o.intact());
    all.insert(all.end(), o.values().begin(), o.values().end());
  }
  CHECK(arena.intact());
  return all;
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
