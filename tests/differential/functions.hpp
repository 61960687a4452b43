// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lambdas for `map` in the generated networks.
#pragma once

namespace differential {

inline constexpr auto soft_sign = [](auto x) { return x / (1.f + abs(x)); };
inline constexpr auto bent = [](auto x) { return max(x, x * .25f) - min(x * x, decltype(x)(1.f)); };
inline constexpr auto gaussian = [](auto x) { return exp(-x * x); };

}  // namespace differential
