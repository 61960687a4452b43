// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of some index expressions, as one would write them by hand; compiled by themselves.
#pragma once

namespace bench::loops {

inline constexpr int rows = 256, columns = 384, depth = 96, side = 28, channels = 64, image = 56, wide = 144;

void blend(float const* a, float const* b, float const* c, float* y);  ///< a * b + c
void gate(float const* a, float const* b, float* y);                   ///< a * sigmoid(b)
void add_turned(float const* a, float const* b, float* y);             ///< a[i, j] + b[j, i]
void window_maxima(float const* x, float* y);                          ///< 3x3
void window_sums(float const* x, float* y);                            ///< 3x3, zeros around the image
void column_maxima(float const* x, float* y);
void row_sums(float const* x, float* y);
void shuffle(float const* x, float* y);  ///< of channels
void look_up(float const* row, float const* table, float* y);
void three_factors(float const* a, float const* b, float const* s, float* y);  ///< sum of a[i, k] b[k, j] s[k]
void distances(float const* a, float const* b, float* y);                      ///< sum of |a[i, k] - b[j, k]|
void running_sums(float const* x, float* y);                                   ///< of rows, by a comparison

void channel_sums(float const* x, float* y);                      ///< of an image
void channel_squares(float const* x, float const* m, float* y);   ///< sums of (x - m)^2
void window_gradient(float const* dy, float const* x, float* y);  ///< of the weights of depthwise 3x3
void flipped_windows(float const* dy, float const* k, float* y);  ///< gradient of what depthwise 3x3 reads

}  // namespace bench::loops
