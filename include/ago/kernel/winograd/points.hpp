// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The points at which Winograd's polynomials are evaluated, and the transform of the weights that they define.
#pragma once

#include <ago/requirements.hpp>

namespace ago::kernel {

/// For F(TILE x TILE, 3 x 3): the extent of a patch, and G, see winograd_scheme.
template <int TILE>
struct winograd_points;

/// Points 0, +-1, infinity.
template <>
struct winograd_points<2> {
  static constexpr int patch = 4;
  static constexpr double weights[patch][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
};

/// Points 0, +-11/16, +-3/2, infinity: the short fractions with the smallest error, a fifth of that of the usual 0,
/// +-1, +-2 and only slightly above that of direct convolution. All coefficients but those of G are exact in float.
template <>
struct winograd_points<4> {
  static constexpr int patch = 6;
  static constexpr double a = 11. / 16, b = 3. / 2, a2 = a * a, b2 = b * b;
  static constexpr double at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
  static constexpr double weights[patch][3] = {{1 / (a2 * b2), 0, 0},      {at_a, a* at_a, a2* at_a},
                                               {at_a, -a* at_a, a2* at_a}, {at_b, b* at_b, b2* at_b},
                                               {at_b, -b* at_b, b2* at_b}, {0, 0, 1}};
};

}  // namespace ago::kernel
