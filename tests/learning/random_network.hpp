// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of random layers, recorded at run time.
#pragma once

#include <algorithm>
#include <random>

#include "recorded_network.hpp"

namespace train_test {

/// A network with one input and one output, whose layers have gradients.
class random_network : public recorded_network<192, 512, 64> {
 public:
  explicit random_network(unsigned seed) : random_(seed) {
    ago::tensor x = ago::lowering::record_input(recorder_, {any(1, 3), any(1, 6), any(1, 6), any(1, 6)});
    recorder_.inputs = 1;
    for (int layers = any(3, 8); layers > 0; --layers) x = chance(30) ? joined(x) : layer(x);
    if (recorder_.parameters.size == 0 || chance(30)) x = x | ago::linear{any(1, 6)};
    ago::lowering::record_outputs(recorder_, x);
    take(recorder_);
  }
  int any(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool chance(int percent) { return any(1, 100) <= percent; }
  /// From -1 to 1, and of so few digits that sums with a small step are exact.
  float number() { return float(any(-4096, 4096)) / 4096; }

 private:
  static bool fits(ago::shape const& s) { return s.count() <= 600; }
  ago::extent2 kernel(ago::tensor x, int pad) {
    return {any(1, std::min(3, x.height() + 2 * pad)), any(1, std::min(3, x.width() + 2 * pad))};
  }
  ago::extent2 stride() { return {any(1, 2), any(1, 2)}; }

  /// The same extents.
  ago::tensor activated(ago::tensor x) {
    switch (any(0, 13)) {
      case 0: return x | ago::relu{};
      case 1: return x | ago::relu6{};
      case 2: return x | ago::leaky_relu{.125f};
      case 3: return x | ago::clip{-.5f, .75f};
      case 4: return x | ago::hard_sigmoid{};
      case 5: return x | ago::hard_swish{};
      case 6: return x | ago::sigmoid{};
      case 7: return x | ago::silu{};
      case 8: return x | ago::gelu{};
      case 9: return x | ago::gelu{.approximate = true};
      case 10: return x | ago::hyperbolic_tangent{};
      case 11: return x | ago::softmax{};
      case 12: return x | ago::prelu{.shared = chance(50)};
      default: return x | ago::dropout{.25f};
    }
  }
  ago::tensor normalised(ago::tensor x) {
    switch (any(0, 5)) {
      case 0: return x | ago::layer_norm{.125f};
      case 1: return x | ago::bias{};
      case 2: return x | ago::scale{};
      case 3: return x | ago::positions{};
      default: return x | ago::batch_norm{.125f};
    }
  }
  ago::tensor convolved(ago::tensor x) {
    int const c = x.channels(), groups = c % 2 == 0 && chance(40) ? 2 : 1, pad = any(0, 2);
    ago::extent2 const window = kernel(x, pad);
    switch (any(0, 6)) {
      case 0:
      case 1: {
        int const reach_h = 2 * (window.h - 1) + 1, reach_w = 2 * (window.w - 1) + 1;
        bool const dilated = reach_h <= x.height() + 2 * pad && reach_w <= x.width() + 2 * pad && chance(40);
        return x | ago::conv2d{.out = groups * any(1, 3),
                               .kernel = window,
                               .stride = stride(),
                               .pad = pad,
                               .dilation = dilated ? 2 : 1,
                               .groups = groups,
                               .bias = chance(50)};
      }
      case 2: return x | ago::depthwise{.kernel = window, .stride = stride(), .pad = pad, .bias = chance(50)};
      case 3: return x | ago::pointwise{.out = any(1, 6), .bias = chance(50)};
      case 4: return x | ago::conv_transpose{.out = any(1, 4), .kernel = any(2, 3), .stride = any(1, 2)};
      default: return x | ago::linear{.out = any(1, 6), .bias = chance(50)};
    }
  }
  ago::tensor pooled(ago::tensor x) {
    ago::extent2 const window = kernel(x, 0), step = stride();
    switch (any(0, 6)) {
      case 0: return x | ago::max_pool{.kernel = window, .stride = {step.h, step.w}};
      case 1: return x | ago::avg_pool{.kernel = window, .stride = {step.h, step.w}};
      case 2: return x | ago::global_avg_pool{};
      case 3: return x | ago::global_max_pool{};
      case 4: return x | ago::reduce_mean{ago::axis(any(0, 3))};
      case 5: return x | ago::reduce_sum{ago::axis(any(1, 3))};
      default: return x | ago::reduce_max{ago::axis(any(1, 3))};
    }
  }
  ago::tensor moved(ago::tensor x) {
    int const c = x.channels(), h = x.height(), w = x.width();
    switch (any(0, 7)) {
      case 0: return x | ago::channel_shuffle{c % 2 == 0 ? 2 : 1};
      case 1: return x | ago::permute{0, 2, 1, 3};
      case 2: return x | ago::reshape{x.images(), 1, h * w, c};
      case 3: return x | ago::pad{.sides = ago::pads{any(0, 1), any(0, 2), any(0, 1), 1}, .value = .5f};
      case 4: return x | ago::resize_nearest{any(1, 5), any(1, 5)};
      case 5: return x | ago::resize_bilinear{any(1, 5), any(1, 5)};
      case 6: return x | ago::slice{h - 1, h, ago::axis::rows, -1};
      default: return x | ago::slice{w / 2, w - w / 2, ago::axis::columns};
    }
  }
  ago::tensor layer(ago::tensor x) {
    ago::tensor y = x;
    switch (any(0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3: y = convolved(x); break;
      case 4: return activated(normalised(x));
      case 5: return normalised(x);
      case 6: y = pooled(x); break;
      case 7: y = moved(x); break;
      default: return activated(x);
    }
    return fits(y.dims()) ? y : y | ago::global_avg_pool{};
  }

  /// Two slices along an axis in the order in which they are not, which may overlap, or leave something out.
  ago::tensor in_other_order(ago::tensor x) {
    int const axis = any(0, 3), extent = ago::ir::extent_along(x.dims(), axis);
    if (extent == 1) return x + (x | ago::slice{0, 1, ago::axis(axis)});
    int const begin = any(1, extent - 1), end = any(1, extent);
    ago::tensor const front = x | ago::slice{0, end, ago::axis(axis)};
    ago::tensor const y = ago::concat(ago::axis(axis), x | ago::slice{begin, extent - begin, ago::axis(axis)}, front);
    return fits(y.dims()) ? y : front;
  }

  /// Two branches from one value, or a product of values.
  ago::tensor joined(ago::tensor x) {
    int const c = x.channels();
    ago::tensor const same = activated(x | ago::pointwise{c});
    switch (any(0, 9)) {
      case 0:
      case 1: return x + same;
      case 2: return x - same;
      case 3: return same * (x | ago::global_avg_pool{} | ago::linear{c} | ago::sigmoid{});
      case 4: return x / ((same | ago::sigmoid{}) + (x | ago::bias{} | ago::sigmoid{}));
      case 5: return chance(50) ? ago::maximum(x, same) : ago::minimum(x, same);
      case 6: return 2 * c <= 12 ? ago::concat(x, same) : x * same;
      case 7: return ago::matmul(x, same, true) | ago::linear{any(1, 4)};
      case 8: return in_other_order(same);
      default: return ago::attention{.heads = c % 2 == 0 ? 2 : 1}(x, same, x | ago::linear{c});
    }
  }

  std::mt19937 random_;
  ago::tracing::recorder recorder_;
};

}  // namespace train_test
