// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks that reference.py trains with PyTorch, too, and their parameters and batches.
#pragma once

#include <ago/training.hpp>

#include <train_sequence/network.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace train_test {

using namespace ago;

/// The generator of reference.py.
class generator {
 public:
  explicit generator(std::uint32_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = 1664525u * state_ + 1013904223u;
    return state_ >> 8;
  }
  /// From [-1, 1).
  double value() { return double(next()) / 8388608. - 1; }

 private:
  std::uint32_t state_;
};

/// Parameters as reference.py's fill() makes them, of these rows.
std::vector<float> filled(auto const& rows, generator& random) {
  std::vector<float> r;
  for (parameter const& p : rows)
    for (int i = 0; i < p.count(); ++i) {
      double const x = random.value();
      bool const is_scale = p.rank == 1 && (p.role == role::gamma || p.role == role::variance || p.kind == op::prelu);
      r.push_back(float(is_scale ? 1 + .5 * x : p.rank > 1 ? x / std::sqrt(double(p.count() / p.dims[0])) : x));
    }
  return r;
}

inline constexpr auto perceptron = input{.c = 12} | linear{16} | relu{} | linear{9} | hyperbolic_tangent{} | linear{4};

inline constexpr auto convolutional =
    input{.h = 9, .w = 9, .c = 3} | conv2d{.out = 8, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} |
    depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu{} | pointwise{.out = 12, .bias = true} |
    max_pool{.kernel = 2, .stride = 2} | conv2d{.out = 6, .kernel = 3, .pad = 1, .groups = 3, .bias = true} |
    leaky_relu{.1f} | global_avg_pool{} | linear{5};

inline constexpr auto functions = trace(
    [](tensor x) {
      x = x | linear{8} | layer_norm{} | gelu{};
      x = x + (x | linear{8} | sigmoid{});
      x = matmul(matmul(x, x, true) | softmax{}, x);
      return x | linear{7} | silu{} | softmax{} | linear{3};
    },
    input{.w = 5, .c = 6});

inline constexpr auto strided =
    input{.h = 13, .w = 14, .c = 2} |
    conv2d{.out = 6, .kernel = 5, .stride = {2, 3}, .pad = {1, 2}, .dilation = {2, 1}, .bias = true} | hard_swish{} |
    avg_pool{.kernel = 3, .stride = 2, .pad = 1, .count_pads = true} |
    conv_transpose{.out = 4, .kernel = 3, .stride = 2, .pad = 1, .bias = true} | prelu{} |
    conv2d{.out = 2, .kernel = 2, .bias = true};

inline constexpr auto recurrent = input{.w = 3, .c = 5} | sequence::mi_lstm(3) | linear{3};

}  // namespace train_test
