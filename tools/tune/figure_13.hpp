// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The four kinds of subgraphs of the AGO paper's figure 13, each with batch norms and relu6, in shapes of MobileNet-V2.
#pragma once

#include "../../bench/subgraphs/pair.hpp"

namespace figure_13 {

using bench::pair_network, bench::pair_shape, bench::to, bench::window;

inline constexpr auto depthwise_depthwise = pair_network<pair_shape{28, 192, window(3, 1), window(3, 1)}>;
inline constexpr auto depthwise_pointwise = pair_network<pair_shape{28, 192, window(3, 1), to(32)}>;
inline constexpr auto pointwise_depthwise = pair_network<pair_shape{56, 24, to(144), window(3, 1)}>;
inline constexpr auto pointwise_pointwise = pair_network<pair_shape{14, 384, to(64), to(384)}>;

}  // namespace figure_13
