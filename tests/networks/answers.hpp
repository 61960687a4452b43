// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's outputs, and their comparison with ago's.
#pragma once

#include <ago/ago.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace networks_test {

using namespace ago;

/// Outputs, at equal distances, of a network in PyTorch, for the parameters and the input made by `uniform`.
struct answer {
  std::string_view network;
  int size, parameters;
  double largest;
  double outputs[40];
};

inline constexpr answer answers[] = {
#include "vectors.inc"
};

/// The i-th number of the sequence in make_vectors.py.
inline float uniform(std::uint32_t i, double low, double high) {
  std::uint32_t x = (i + 0x9e3779b9u) * 0x85ebca6bu;
  x = (x ^ x >> 15) * 0xc2b2ae35u;
  x = (x ^ x >> 13) * 0x27d4eb2fu;
  x ^= x >> 16;
  return float(low + (high - low) * (double(x >> 8) * 0x1p-24));
}

inline float parameter_value(parameter const& p, int i) {
  switch (p.role) {
    case role::mean: return uniform(std::uint32_t(i), -.2, .2);
    case role::variance: return uniform(std::uint32_t(i), .8, 1.25);
    case role::gamma: return uniform(std::uint32_t(i), .6, 1.4);
    case role::weight: {
      double const high = std::sqrt(6. / (p.kind == op::positions ? p.dims[2] : p.count() / p.dims[0]));
      return uniform(std::uint32_t(i), -high, high);
    }
    default: return uniform(std::uint32_t(i), -.3, .3);
  }
}

inline float pixel(std::uint32_t i) { return uniform(i, -1, 1); }
inline float word(std::uint32_t i) { return std::floor(uniform(i, 0, 30522)); }

template <auto const& Net>
void agrees(std::string_view network, int size, float (*input)(std::uint32_t) = pixel) {
  CAPTURE(network);
  CAPTURE(size);
  answer const* expected = nullptr;
  for (answer const& a : answers)
    if (a.network == network && a.size == size) expected = &a;
  REQUIRE(expected);
  using net = model<Net>;
  REQUIRE(net::parameter_count == std::size_t(expected->parameters));

  std::vector<float> weights(net::parameter_count), in(net::input_size()), out(net::output_size());
  for (parameter const& p : parameters<Net>)
    for (int i = p.offset; i < p.offset + p.count(); ++i) weights[std::size_t(i)] = parameter_value(p, i);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = input(std::uint32_t(i));
  auto const run = std::make_unique<net>(std::span<float const, net::parameter_count>(weights));
  (*run)(std::span<float const, net::input_size()>(in), std::span<float, net::output_size()>(out));

  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < std::size(expected->outputs); ++i) {
    double const difference = std::fabs(double(out[i * (out.size() / 40)]) - expected->outputs[i]);
    if (!(difference <= worst)) worst = difference;
  }
  for (float const x : out) largest = std::fmax(largest, std::fabs(double(x)));
  MESSAGE(network, ' ', size, ": largest difference ", worst / expected->largest, " of the largest output");
  CHECK(worst <= 1e-5 * expected->largest);
  CHECK(std::fabs(largest - expected->largest) <= 1e-5 * expected->largest);
}

}  // namespace networks_test
