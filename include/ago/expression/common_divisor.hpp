// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Granules of extents that are divided in several ways. (<numeric> would take each program longer to compile.)
#pragma once

#include <ago/requirements.hpp>

namespace ago::expression {

constexpr long common_divisor(long a, long b) { return b == 0 ? a : common_divisor(b, a % b); }
/// 0 if one of them is 0.
constexpr long common_multiple(long a, long b) { return a == 0 || b == 0 ? 0 : a / common_divisor(a, b) * b; }

}  // namespace ago::expression
