// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled several times: VARIANT names the function that this copy defines.
#include "network.hpp"

#include <ago/ago.hpp>

namespace odr {

/// Channels that do not fill a vector register, every kind of kernel, and a user's operator.
inline constexpr auto network =
    ago::input{.h = 9, .w = 7, .c = channels} | ago::conv2d{.out = 17, .kernel = 3, .stride = 2, .pad = 1} |
    ago::batch_norm{} | ago::hyperbolic_tangent{} |
    ago::residual{ago::pointwise{34} | ago::batch_norm{} | ago::map{[](auto x) { return x * x - x; }} |
                  ago::depthwise{.kernel = 3, .pad = 1} | ago::relu6{} | ago::pointwise{17}} |
    ago::max_pool{.kernel = 2} | ago::global_avg_pool{} | ago::linear{classes};

using model = ago::model<network>;

answer VARIANT(float const (&image)[pixels * channels]) {
  static float weights[model::parameter_count];
  unsigned state = 1;
  for (float& w : weights) {
    state = state * 1664525u + 1013904223u;
    w = float(state >> 8) / float(1 << 24);  // batch norm divides by the square root of some of them
  }
  static model net{weights};
  answer a{.target = ago::name_of(model::target), .scores = {}};
  net(image, a.scores);
  return a;
}

}  // namespace odr
