// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers with random arguments.
#pragma once

#include "network/run_time_trace.hpp"

#include <ago/layers/layers.hpp>

#include <algorithm>
#include <random>

namespace graph_test {

/// Layers with random arguments on an image whose extents are above 1, so that no two operators are the same.
struct random_layers {
  std::mt19937 random;
  run_time_trace trace{};

  explicit random_layers(unsigned seed) : random(seed) {}
  int any(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
  float number() { return float(any(1, 16)) / 16; }

  ago::extent2 pair(int from, int to) { return {any(from, to), any(from, to)}; }
  ago::conv2d convolution(int channels) {
    int const groups = any(0, 1) ? 1 : any(0, 1) ? 2 : channels;
    ago::pads const p{any(0, 2), any(0, 2), any(0, 2), any(0, 2)};
    return {.out = groups * any(2, 4),
            .kernel = pair(1, 3),
            .stride = pair(1, 3),
            .pad = any(0, 1) ? ago::padding(p) : ago::padding(any(0, 3)),
            .dilation = pair(1, 2),
            .groups = groups};
  }
  ago::axis axis() { return ago::axis(any(0, 3)); }

  /// Applies layer number `which`; false if there are no more.
  bool apply(int which, ago::tensor x) {
    int const c = x.channels();
    auto const size = [&](ago::axis a) { return ago::ir::extent_along(x.dims(), int(a)); };
    switch (which) {
      case 0: return convolution(c)(x), true;
      case 1: return ago::depthwise{.kernel = pair(2, 3), .stride = pair(1, 2), .pad = any(0, 2)}(x), true;
      case 2: return ago::pointwise{any(2, 9)}(x), true;
      case 3: return ago::linear{.out = any(2, 9), .bias = false}(x), true;
      case 4: return ago::max_pool{.kernel = pair(2, 3), .stride = {any(1, 3), any(1, 3)}, .pad = any(0, 1)}(x), true;
      case 5: {
        ago::pads const p{any(0, 1), any(0, 1), any(0, 1), any(0, 1)};
        bool const padded = p.top + p.left + p.bottom + p.right > 0;  // otherwise, all count
        ago::avg_pool const l{
            .kernel = pair(2, 3), .stride = {any(1, 3), any(1, 3)}, .pad = p, .count_pads = !padded || any(0, 1) == 0};
        return l(x), true;
      }
      case 6: return ago::global_avg_pool{}(x), true;
      case 7: return ago::global_max_pool{}(x), true;
      case 8: return ago::reduce_sum{axis()}(x), true;
      case 9: return ago::reduce_mean{{ago::axis::images, axis()}}(x), true;
      case 10: return ago::reduce_min{{axis(), axis()}}(x), true;
      case 11: return ago::reduce_product{axis()}(x), true;
      case 12: return ago::reduce_max{axis()}(x), true;
      case 13: {
        int order[] = {0, 1, 2, 3};
        do std::shuffle(order, order + 4, random);
        while (std::is_sorted(order, order + 4));
        return ago::permute{order[0], order[1], order[2], order[3]}(x), true;
      }
      case 14: {
        ago::axis const a = axis();
        int const step = any(1, std::min(2, size(a) - 1)), count = any(1, (size(a) - 1) / step);
        int const first = any(1, size(a) - 1 - (count - 1) * step);
        bool const back = any(0, 1);
        return ago::slice{back ? first + (count - 1) * step : first, count, a, back ? -step : step}(x), true;
      }
      case 15: {
        ago::pads const p{any(0, 2), any(0, 2), any(0, 2), any(1, 2)};
        ago::pad const l{.sides = p, .value = number(), .channels_before = any(0, 2), .channels_after = any(0, 2)};
        return l(x), true;
      }
      case 16: return ago::expand{.n = 3}(x | ago::slice{.axis = ago::axis::images}), true;
      case 17: return ago::channel_shuffle{2}(x), true;
      case 18: return ago::reshape{size(ago::axis::images) * size(ago::axis::rows), 1, 0, 0}(x), true;
      case 19: return (x | ago::relu{}), true;
      case 20: return (x | ago::relu6{}), true;
      case 21: return ago::leaky_relu{number()}(x), true;
      case 22: return ago::clip{-number(), number()}(x), true;
      case 23: return (x | ago::hard_sigmoid{}), true;
      case 24: return (x | ago::hard_swish{}), true;
      case 25: return (x | ago::sigmoid{}), true;
      case 26: return (x | ago::silu{}), true;
      case 27: return (x | ago::gelu{}), true;
      case 28: return ago::gelu{.approximate = true}(x), true;
      case 29: return (x | ago::hyperbolic_tangent{}), true;
      case 30: return (x | ago::bias{}), true;
      case 31: return (x | ago::scale{}), true;
      case 32: return (x | ago::positions{}), true;
      case 33: return (x | ago::prelu{.shared = any(0, 1) == 0}), true;
      case 34: return (x | ago::batch_norm{number()}), true;
      case 35: return matmul(x, x | ago::permute{0, 1, 3, 2}), true;
      case 36: return matmul(x, x, true), true;
      default: break;
    }
    if (which >= 37 + 8 * 4) return false;
    int const shape = (which - 37) / 8;
    ago::tensor const other = shape == 0   ? x | ago::relu{}
                              : shape == 1 ? x | ago::global_max_pool{}
                              : shape == 2 ? x | ago::reduce_sum{ago::axis::channels}
                                           : x | ago::reduce_sum{};
    bool const swapped = any(0, 1);
    ago::tensor const a = swapped ? other : x, b = swapped ? x : other;
    switch ((which - 37) % 8) {
      case 0: return a + b, true;
      case 1: return a * b, true;
      case 2: return a - b, true;
      case 3: return a / b, true;
      case 4: return maximum(a, b), true;
      case 5: return minimum(a, b), true;
      case 6: return less(a, b), true;
      default: return power(a, b), true;
    }
  }
};

}  // namespace graph_test
