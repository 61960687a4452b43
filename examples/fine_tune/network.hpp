// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An imported MobileNet in two parts: a trunk that stays as it is, and its last block with a new classifier.
#pragma once

#include <ago/training.hpp>
#include <mobilenet.hpp>

namespace fine_tune {

using namespace ago;

// [network]
// The imported network ends in ... | block | pointwise | relu6 | global_avg_pool | linear | relu | linear | softmax.
inline constexpr auto trunk = without_last<8>(mobilenet::network);
inline constexpr auto tail = input_after<trunk> | named("block", last<1>(without_last<7>(mobilenet::network))) |
                             global_avg_pool{} | named("classes", linear{10});
// [/network]

}  // namespace fine_tune
