// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tutorials 2, 4 and 5: a network that decides whether a point lies on a ring; train.py defines it in PyTorch.
#pragma once

#include <ago/ago.hpp>

// [network]
namespace tutorial {

using namespace ago;

inline constexpr auto ring =
    input{.c = 2} | linear{16} | hyperbolic_tangent{} | linear{16} | hyperbolic_tangent{} | linear{1};

}  // namespace tutorial
// [/network]
