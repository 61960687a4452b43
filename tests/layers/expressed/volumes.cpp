// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and pooling of volumes equal plain loops.
#include "run.hpp"

#include <functional>

using namespace ago;
using namespace operators_test;

namespace {

/// x[n, d, h, w, c].
struct volume {
  int n, d, h, w, c;
  std::vector<float> x = some_numbers(std::size_t(n) * d * h * w * c, 7);
  bool has(int i, int j, int k) const { return i >= 0 && i < d && j >= 0 && j < h && k >= 0 && k < w; }
  double at(int b, int i, int j, int k, int channel) const {
    return double(x[((((std::size_t(b) * d + i) * h + j) * w + k) * c + channel)]);
  }
};

/// Windows of kernel, stride, dilation and pads before, in one direction; `out` of them.
struct windows1 {
  int out, kernel, stride = 1, dilation = 1, before = 0;
  int at(int o, int k) const { return o * stride + k * dilation - before; }
};

/// Calls visit(b, i, j, k, c) for each element of the windows d, h, w.
void for_each_result(volume const& v, windows1 d, windows1 h, windows1 w, int channels,
                     std::function<void(int, int, int, int, int)> const& visit) {
  for (int b = 0; b < v.n; ++b)
    for (int i = 0; i < d.out; ++i)
      for (int j = 0; j < h.out; ++j)
        for (int k = 0; k < w.out; ++k)
          for (int c = 0; c < channels; ++c) visit(b, i, j, k, c);
}
/// Calls visit(i, j, k) for each place of a window, also outside of the volume.
void for_each_tap(windows1 d, windows1 h, windows1 w, int i, int j, int k,
                  std::function<void(int, int, int, int, int, int)> const& visit) {
  for (int r = 0; r < d.kernel; ++r)
    for (int s = 0; s < h.kernel; ++s)
      for (int t = 0; t < w.kernel; ++t) visit(d.at(i, r), h.at(j, s), w.at(k, t), r, s, t);
}

constexpr input from{.n = 2 * 5, .h = 6, .w = 7, .c = 6};
volume const numbers{2, 5, 6, 7, 6};

inline constexpr auto convolved = from | view{2, 5, 6, 7, 6} |
                                  conv3d{.out = 4,
                                         .kernel = {3, 2, 3},
                                         .stride = {2, 1, 1},
                                         .pad = {1, 0, 2, 0, 1, 1},
                                         .dilation = {1, 2, 1},
                                         .groups = 2} |
                                  relu{};
inline constexpr auto transposed = from | view{2, 5, 6, 7, 6} |
                                   conv_transpose3d{.out = 4,
                                                    .kernel = {2, 3, 2},
                                                    .stride = {2, 1, 3},
                                                    .pad = {0, 1, 0, 1, 2, 0},
                                                    .output_pad = {1, 0, 0},
                                                    .groups = 2};
inline constexpr auto pooled = trace(
    [](tensor x) {
      tensor const v = x | view{2, 5, 6, 7, 6};
      tensor const y = v | max_pool3d{.kernel = {2, 3, 2}, .stride = {2, 1, 3}, .pad = {1, 0, 0}, .ceil = true};
      max_pool3d_index place{.kernel = {2, 3, 2}, .stride = {2, 1, 3}, .pad = {1, 0, 0}, .ceil = true};
      tensor const rows = place(v, y);
      place.column_major = true;
      return outputs(y, rows, place(v, y));
    },
    from);
inline constexpr auto averaged = trace(
    [](tensor x) {
      tensor const v = x | view{2, 5, 6, 7, 6};
      constexpr avg_pool3d mean{.kernel = {2, 3, 2},
                                .stride = {2, 2, 3},
                                .pad = {1, 1, 0},
                                .dilation = {2, 1, 1},
                                .ceil = true,
                                .count_pads = false};
      avg_pool3d with_pads = mean;
      with_pads.count_pads = true;
      return outputs(v | mean, v | with_pads, v | lp_pool3d{.kernel = 2, .p = 1}, v | lp_pool3d{.kernel = 2},
                     v | lp_pool3d{.kernel = 2, .p = 3});
    },
    from);

}  // namespace

TEST_CASE("convolutions of volumes have strides, dilation, groups, pads of each side, and an epilogue") {
  windows1 const d{2, 3, 2, 1, 1}, h{5, 2, 1, 2, 0}, w{8, 3, 1, 1, 2};
  auto const numbers_of_weights = some_numbers(4 * 3 * 3 * 2 * 3, 3);
  auto const weight = [&](int o, int c, int r, int s, int t) {
    return double(numbers_of_weights[std::size_t((((o * 3 + c) * 3 + r) * 2 + s) * 3 + t)]);
  };
  std::vector<double> expected;
  for_each_result(numbers, d, h, w, 4, [&](int b, int i, int j, int k, int o) {
    double sum = 0;
    for (int c = 0; c < 3; ++c)
      for_each_tap(d, h, w, i, j, k, [&](int a, int e, int f, int r, int s, int t) {
        if (numbers.has(a, e, f)) sum += numbers.at(b, a, e, f, o / 2 * 3 + c) * weight(o, c, r, s, t);
      });
    expected.push_back(sum > 0 ? sum : 0);
  });
  check_values<convolved>(numbers_of_weights, numbers.x, expected);
}

TEST_CASE("transposed convolutions of volumes add each element's window") {
  constexpr int D = 2 * 4 + 1 + 1 + 1 - 0 - 1, H = 5 + 2 + 1 - 1 - 2, W = 3 * 6 + 1 + 1;
  auto const numbers_of_weights = some_numbers(6 * 2 * 2 * 3 * 2, 3);
  auto const weight = [&](int c, int m, int r, int s, int t) {
    return double(numbers_of_weights[std::size_t((((c * 2 + m) * 2 + r) * 3 + s) * 2 + t)]);
  };
  std::vector<double> expected(std::size_t(2 * D * H * W * 4));
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 6; ++j)
        for (int k = 0; k < 7; ++k)
          for (int c = 0; c < 6; ++c)
            for (int m = 0; m < 2; ++m)
              for (int r = 0; r < 2; ++r)
                for (int s = 0; s < 3; ++s)
                  for (int t = 0; t < 2; ++t) {
                    int const y = 2 * i + r, x = j + s - 1, z = 3 * k + t;
                    if (y >= D || x < 0 || x >= H || z >= W) continue;
                    expected[std::size_t((((b * D + y) * H + x) * W + z) * 4 + c / 3 * 2 + m)] +=
                        numbers.at(b, i, j, k, c) * weight(c, m, r, s, t);
                  }
  check_values<transposed>(numbers_of_weights, numbers.x, expected);
}

TEST_CASE("maxima of volumes are those of the windows, and their places the first ones, in both orders") {
  windows1 const d{3, 2, 2, 1, 1}, h{4, 3}, w{3, 2, 3};
  std::vector<double> maxima, rows, columns;
  for_each_result(numbers, d, h, w, 6, [&](int b, int i, int j, int k, int c) {
    double most = -1e30;
    int row = 0, column = 0;
    for_each_tap(d, h, w, i, j, k, [&](int a, int e, int f, int, int, int) {
      if (!numbers.has(a, e, f)) return;
      double const x = numbers.at(b, a, e, f, c);
      int const place = (a * 6 + e) * 7 + f, turned = a + 5 * e + 30 * f, before = (b * 6 + c) * 210;
      if (x > most || (x == most && before + place < row)) row = before + place;
      if (x > most || (x == most && before + turned < column)) column = before + turned;
      most = std::max(most, x);
    });
    maxima.push_back(most);
    rows.push_back(row);
    columns.push_back(column);
  });
  maxima.insert(maxima.end(), rows.begin(), rows.end());
  maxima.insert(maxima.end(), columns.begin(), columns.end());
  check_values<pooled>({}, numbers.x, maxima);
}

TEST_CASE("means of volumes count padding or not, but never what is beyond it, and norms have any exponent") {
  windows1 const d{3, 2, 2, 2, 1}, h{4, 3, 2, 1, 1}, w{3, 2, 3};
  windows1 const d2{2, 2, 2}, h2{3, 2, 2}, w2{3, 2, 2};
  std::vector<double> expected;
  for (bool const pads : {false, true})
    for_each_result(numbers, d, h, w, 6, [&](int b, int i, int j, int k, int c) {
      double sum = 0;
      int count = 0;
      for_each_tap(d, h, w, i, j, k, [&](int a, int e, int f, int, int, int) {
        if (numbers.has(a, e, f)) sum += numbers.at(b, a, e, f, c);
        count += pads ? a < 5 + 1 && e < 6 + 1 && f < 7 : numbers.has(a, e, f);
      });
      expected.push_back(sum / count);
    });
  for (int const p : {1, 2, 3})
    for_each_result(numbers, d2, h2, w2, 6, [&](int b, int i, int j, int k, int c) {
      double sum = 0;
      for_each_tap(d2, h2, w2, i, j, k, [&](int a, int e, int f, int, int, int) {
        sum += std::pow(std::abs(numbers.at(b, a, e, f, c)), p);
      });
      expected.push_back(std::pow(sum, 1. / p));
    });
  check_values<averaged>({}, numbers.x, expected);
}
