// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators over the channels of each pixel: softmax, layer norm.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "value.hpp"
#include "windows.hpp"

namespace reference::detail {

inline void softmax(ago::ir::node const& n, value const& in, value& out) {
  check(in.extents == n.out, n, "shape");
  auto const channels = std::size_t(n.out.c);
  for (std::size_t first = 0; first < in.exact.size(); first += channels) {
    double const* const x = in.exact.data() + first;
    double const* const e = in.error.data() + first;
    double const largest = *std::max_element(x, x + channels);
    double sum = 0, shift = 0;  // shift: relative error of the sum
    for (std::size_t c = 0; c < channels; ++c) sum += std::exp(x[c] - largest);
    auto const relative = [&](std::size_t c) { return e[c] + roundoff * (3 + std::abs(x[c] - largest)); };
    for (std::size_t c = 0; c < channels; ++c) shift += std::exp(x[c] - largest) / sum * relative(c);
    for (std::size_t c = 0; c < channels; ++c) {
      double const y = std::exp(x[c] - largest) / sum;
      out.exact[first + c] = y;
      out.error[first + c] = y * (relative(c) + shift + roundoff * (2 + std::sqrt(double(channels)))) +
                             double(std::numeric_limits<float>::min());
    }
  }
}

/// (x - mean) / sqrt(variance + alpha) * gamma + beta, with the variance divided by the number of channels.
inline void layer_norm(ago::ir::node const& n, std::span<float const> parameters, value const& in, value& out) {
  check(in.extents == n.out, n, "shape");
  auto const channels = std::size_t(n.out.c);
  double const part = 1. / double(channels);
  for (std::size_t first = 0; first < in.exact.size(); first += channels) {
    accumulator mean, variance;
    for (std::size_t c = 0; c < channels; ++c) mean.add(part, in.exact[first + c], in.error[first + c]);
    auto const deviation = [&](std::size_t c) { return in.exact[first + c] - mean.sum; };
    auto const error = [&](std::size_t c) {
      return in.error[first + c] + mean.error() + roundoff * std::abs(deviation(c));
    };
    for (std::size_t c = 0; c < channels; ++c) variance.add(part * deviation(c), deviation(c), 2 * error(c));
    double const inside = variance.sum + n.alpha, scale = 1 / std::sqrt(inside);
    double const error_of_scale = scale * (variance.error() / (2 * inside) + 3 * roundoff);
    for (std::size_t c = 0; c < channels; ++c) {
      double const gamma = double(parameters[std::size_t(n.weight) + c]);
      double const beta = double(parameters[std::size_t(n.shift) + c]);
      double const y = deviation(c) * scale * gamma;
      out.exact[first + c] = y + beta;
      out.error[first + c] = std::abs(gamma) * (error(c) * scale + std::abs(deviation(c)) * error_of_scale) +
                             roundoff * (2 * std::abs(y) + std::abs(y + beta));
    }
  }
}

}  // namespace reference::detail
