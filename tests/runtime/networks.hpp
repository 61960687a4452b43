// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small networks and their inputs for the model's tests.
#pragma once

#include <ago/ago.hpp>

#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace model_test {

using namespace ago;

constexpr auto inverted_residual(int hidden) {
  return [=](tensor x) {
    return x + (x | pointwise{hidden} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{} |
                relu6{} | pointwise{x.channels()} | batch_norm{});
  };
}

inline constexpr auto small = input{.h = 9, .w = 7, .c = 3} | conv2d{.out = 17, .kernel = 3, .stride = 2, .pad = 1} |
                              batch_norm{} | relu6{} | inverted_residual(40) | global_avg_pool{} | linear{5};

inline constexpr auto two_in_two_out = trace(
    [](tensor a, tensor b) {
      tensor const x = (a | pointwise{6}) + b;
      return outputs(x | relu{}, concat(a, x) | pointwise{4});
    },
    input{.h = 5, .w = 4, .c = 3}, input{.h = 5, .w = 4, .c = 6});

inline std::vector<float> random_floats(std::size_t n, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(low, high);
  std::vector<float> v(n);
  for (float& x : v) x = value(random);
  return v;
}

/// The output of a network with one input and one output.
template <auto const& Net, options Options = options{}>
std::vector<float> result_of(std::vector<float> const& x, std::vector<float> const& weights) {
  using program = ago::program<Net, untuned, Options>;
  auto const net = std::make_unique<model<Net, untuned, Options>>(
      std::span<float const, program::parameter_count>(weights.data(), weights.size()));
  std::vector<float> y(program::output_size(0));
  (*net)(std::span<float const, program::input_size(0)>(x.data(), x.size()),
         std::span<float, program::output_size(0)>(y.data(), y.size()));
  return y;
}

/// Random weights with positive variances.
template <auto const& Net>
std::vector<float> random_weights(unsigned seed) {
  auto w = random_floats(parameter_count<Net>, seed, -.5f, .5f);
  for (auto const& p : parameters<Net>)
    if (p.role == role::variance)
      for (long i = 0; i < p.count(); ++i) w[std::size_t(p.offset + i)] = 1 + w[std::size_t(p.offset + i)];
  return w;
}

template <class Model>
auto weights_span(std::vector<float> const& w) {
  return std::span(w).template first<Model::parameter_count>();
}

}  // namespace model_test
