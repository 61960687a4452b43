// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loops.hpp"

#include <cmath>

namespace bench::loops {

#define AGO_RESTRICT __restrict

void blend(float const* AGO_RESTRICT a, float const* AGO_RESTRICT b, float const* AGO_RESTRICT c,
           float* AGO_RESTRICT y) {
  for (int i = 0; i < rows * columns; ++i) y[i] = a[i] * b[i] + c[i];
}

void gate(float const* AGO_RESTRICT a, float const* AGO_RESTRICT b, float* AGO_RESTRICT y) {
  for (int i = 0; i < rows * columns; ++i) y[i] = a[i] / (1 + std::exp(-b[i]));
}

void add_turned(float const* AGO_RESTRICT a, float const* AGO_RESTRICT b, float* AGO_RESTRICT y) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) y[i * columns + j] = a[i * columns + j] + b[j * rows + i];
}

void window_maxima(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int h = 0; h < side - 2; ++h)
    for (int w = 0; w < side - 2; ++w)
      for (int c = 0; c < channels; ++c) {
        float most = x[(h * side + w) * channels + c];
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            float const next = x[((h + r) * side + w + s) * channels + c];
            most = next > most ? next : most;
          }
        y[(h * (side - 2) + w) * channels + c] = most;
      }
}

void window_sums(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int h = 0; h < side; ++h)
    for (int w = 0; w < side; ++w) {
      float* AGO_RESTRICT const to = y + (h * side + w) * channels;
      for (int c = 0; c < channels; ++c) to[c] = 0;
      for (int r = -1; r < 2; ++r)
        for (int s = -1; s < 2; ++s) {
          if (h + r < 0 || h + r >= side || w + s < 0 || w + s >= side) continue;
          for (int c = 0; c < channels; ++c) to[c] += x[((h + r) * side + w + s) * channels + c];
        }
    }
}

void column_maxima(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int j = 0; j < columns; ++j) y[j] = x[j];
  for (int i = 1; i < rows; ++i)
    for (int j = 0; j < columns; ++j) y[j] = x[i * columns + j] > y[j] ? x[i * columns + j] : y[j];
}

void row_sums(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int j = 0; j < columns; ++j) sum += x[i * columns + j];
    y[i] = sum;
  }
}

void shuffle(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int i = 0; i < side * side; ++i)
    for (int c = 0; c < channels; ++c) y[i * channels + c] = x[i * channels + c % 4 * (channels / 4) + c / 4];
}

void look_up(float const* AGO_RESTRICT row, float const* AGO_RESTRICT table, float* AGO_RESTRICT y) {
  for (int i = 0; i < rows; ++i) {
    int at = int(std::floor(row[i]));
    at = at < 0 ? 0 : at >= rows ? rows - 1 : at;
    for (int j = 0; j < columns; ++j) y[i * columns + j] = table[at * columns + j];
  }
}

void three_factors(float const* AGO_RESTRICT a, float const* AGO_RESTRICT b, float const* AGO_RESTRICT s,
                   float* AGO_RESTRICT y) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) y[i * columns + j] = 0;
    for (int k = 0; k < depth; ++k) {
      float const x = a[i * depth + k] * s[k];
      for (int j = 0; j < columns; ++j) y[i * columns + j] += x * b[k * columns + j];
    }
  }
}

void distances(float const* AGO_RESTRICT a, float const* AGO_RESTRICT b, float* AGO_RESTRICT y) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < channels; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += std::fabs(a[i * depth + k] - b[j * depth + k]);
      y[i * channels + j] = sum;
    }
}

void running_sums(float const* AGO_RESTRICT x, float* AGO_RESTRICT y) {
  for (int i = 0; i < channels; ++i)
    for (int j = 0; j < depth; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += k <= j ? x[i * depth + k] : 0;
      y[i * depth + j] = sum;
    }
}

void channel_sums(float const* x, float* y) {
  for (int c = 0; c < wide; ++c) y[c] = 0;
  for (int p = 0; p < image * image; ++p)
    for (int c = 0; c < wide; ++c) y[c] += x[p * wide + c];
}

void channel_squares(float const* x, float const* m, float* y) {
  for (int c = 0; c < wide; ++c) y[c] = 0;
  for (int p = 0; p < image * image; ++p)
    for (int c = 0; c < wide; ++c) y[c] += (x[p * wide + c] - m[c]) * (x[p * wide + c] - m[c]);
}

void window_gradient(float const* dy, float const* x, float* y) {
  float sums[3][3][wide]{};  // channels last, so that they fill registers
  for (int h = 0; h < image; ++h)
    for (int r = 0; r < 3; ++r) {
      if (h + r - 1 < 0 || h + r - 1 >= image) continue;
      for (int w = 0; w < image; ++w)
        for (int s = 0; s < 3; ++s) {
          if (w + s - 1 < 0 || w + s - 1 >= image) continue;
          float const* const a = dy + (h * image + w) * wide;
          float const* const b = x + ((h + r - 1) * image + w + s - 1) * wide;
          for (int c = 0; c < wide; ++c) sums[r][s][c] += a[c] * b[c];
        }
    }
  for (int c = 0; c < wide; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) y[(c * 3 + r) * 3 + s] = sums[r][s][c];
}

void flipped_windows(float const* dy, float const* k, float* y) {
  float taps[3][3][wide];
  for (int c = 0; c < wide; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) taps[r][s][c] = k[(c * 3 + r) * 3 + s];
  for (int h = 0; h < image; ++h)
    for (int w = 0; w < image; ++w) {
      float* const to = y + (h * image + w) * wide;
      for (int c = 0; c < wide; ++c) to[c] = 0;
      for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
          int const i = h + 1 - r, j = w + 1 - s;
          if (i < 0 || i >= image || j < 0 || j >= image) continue;
          float const* const from = dy + (i * image + j) * wide;
          for (int c = 0; c < wide; ++c) to[c] += from[c] * taps[r][s][c];
        }
    }
}

}  // namespace bench::loops
