// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One network that several translation units use, and the result of each.
#pragma once

namespace odr {

inline constexpr int pixels = 9 * 7, channels = 5, classes = 10;

/// The scores of a translation unit, and the instruction set that it reports.
struct answer {
  char const* target;
  float scores[classes];
};
using user = answer (*)(float const (&image)[pixels * channels]);

answer baseline(float const (&image)[pixels * channels]);
answer baseline_again(float const (&image)[pixels * channels]);
answer sse42(float const (&image)[pixels * channels]);
answer avx2(float const (&image)[pixels * channels]);
answer avx512(float const (&image)[pixels * channels]);

}  // namespace odr
