// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of the imported MobileNet where there is none: a network that begins and ends as it does, so that the
// example is compiled all the same. It has no weights.
#pragma once

#include <ago/ago.hpp>

namespace mobilenet {

using namespace ago;

inline constexpr auto block = pointwise{48} | relu6{} | depthwise{} | relu6{} | pointwise{24};
inline constexpr auto network = input{.h = 224, .w = 224, .c = 3} | conv2d{.out = 16, .stride = 16} | relu6{} | block |
                                pointwise{64} | relu6{} | global_avg_pool{} | linear{32} | relu{} | linear{5} |
                                softmax{};

}  // namespace mobilenet
