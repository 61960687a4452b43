// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library interface that exposes an ago type.
#pragma once

#include <ago/ago.hpp>

#include <span>

namespace classifier {

inline constexpr auto network = ago::input{.h = 2, .w = 2, .c = 1} | ago::global_avg_pool{} | ago::linear{2};
using model = ago::model<network>;

/// The class with the highest score.
int classify(std::span<float const, 4> image);

}  // namespace classifier
