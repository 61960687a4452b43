// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network with every kind of packed weights; they are packed when the test is built.
#pragma once

#include <ago/network/network.hpp>
#include <ago/plan/schedule.hpp>

namespace packed_test {

using namespace ago;
using namespace ago::ir;
using namespace ago::plan;

inline constexpr auto network = input{.h = 12, .w = 12, .c = 3} | conv2d{.out = 20, .kernel = 3, .pad = 1} |
                                batch_norm{} | relu{} | conv2d{.out = 24, .kernel = 3, .pad = 1} | batch_norm{} |
                                prelu{} | concat(pointwise{9} | batch_norm{}, pointwise{7}) |
                                depthwise{.kernel = 3, .pad = 1} | batch_norm{} |
                                conv2d{.out = 20, .kernel = 3, .stride = 2, .pad = 1, .groups = 4} | scale{} |
                                conv_transpose{.out = 6, .kernel = 4, .stride = 2, .pad = 1} | positions{} |
                                layer_norm{} | global_avg_pool{} | linear{5};
inline constexpr auto few = input{.c = 4} | linear{3};

/// Winograd wherever possible.
inline constexpr plan::uniform_schedule winograd_4{{.winograd = 4}};

}  // namespace packed_test
