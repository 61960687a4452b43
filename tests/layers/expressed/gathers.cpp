// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose indices are values, and sums of windows, equal plain loops.
#include "run.hpp"

using namespace ago;
using namespace operators_test;

namespace {

// Indices are constants of the networks, which the tests give as weights.
inline constexpr auto gathered =
    trace([](tensor x) { return take_along_axis{}(x | view{3, 6, 5}, x | constant{.c = 3 * 4 * 5} | view{3, 4, 5}); },
          input{.h = 3, .w = 6, .c = 5});
inline constexpr auto tuples = trace(
    [](tensor x) {
      return gather_nd{.first = 3, .second = 4}(x | view{2, 12, 5}, x | constant{.c = 2 * 6 * 2} | view{2, 6, 2});
    },
    input{.h = 2, .w = 12, .c = 5});
inline constexpr auto reversed =
    trace([](tensor x) { return reverse_sequence{}(x | view{3, 6, 5}, x | constant{.c = 3} | view{3}); },
          input{.h = 3, .w = 6, .c = 5});
inline constexpr auto added = input{.h = 2 * 3 * 2, .w = 3 * 3, .c = 4} | view{2, 3, 2, 3, 3, 4} |
                              col2im{.height = 4,
                                     .width = 7,
                                     .kernel = {2, 3},
                                     .stride = {1, 2},
                                     .pad = {.top = 0, .left = 1, .bottom = 0, .right = 0},
                                     .dilation = {2, 1}};
template <grid_sample How>
inline constexpr auto sampled =
    trace([](tensor x) { return How(x | view{2, 5, 6, 3}, x | constant{.c = 2 * 7 * 2} | view{2, 7, 2}); },
          input{.n = 2, .h = 5, .w = 6, .c = 3});

/// Mirrors a position at the ends of the image until it is between them.
double mirrored(double at, double low, double high) {
  while (at < low || at > high) at = at < low ? 2 * low - at : 2 * high - at;
  return at;
}

double sample(std::vector<float> const& x, grid_sample const& how, int n, int c, double right, double down) {
  auto const place = [&](double at, int extent) {
    double r = how.align_corners ? (at + 1) / 2 * (extent - 1) : ((at + 1) * extent - 1) / 2;
    if (how.mode == grid_sample::nearest) r = std::nearbyint(r);
    double const low = how.align_corners ? 0 : -.5, high = extent - 1 - low;
    if (r >= low && r <= high) return r;
    if (how.outside == grid_sample::border) return std::min(std::max(r, 0.), extent - 1.);
    return how.outside == grid_sample::reflection ? mirrored(r, low, high) : r;
  };
  auto const index = [&](int i, int extent) {
    double const low = how.align_corners ? 0 : -.5;
    if (how.outside == grid_sample::border) return std::min(std::max(i, 0), extent - 1);
    return how.outside == grid_sample::reflection ? int(mirrored(i, low, extent - 1 - low)) : i;
  };
  auto const pixel = [&](int i, int j) {
    int const h = index(i, 5), w = index(j, 6);
    if (h < 0 || h >= 5 || w < 0 || w >= 6) return 0.;
    return double(x[std::size_t(((n * 5 + h) * 6 + w) * 3 + c)]);
  };
  auto const share = [&](double distance) {
    double const d = std::abs(distance);
    if (how.mode == grid_sample::nearest) return double(d < .5);
    if (how.mode == grid_sample::bilinear) return std::max(0., 1 - d);
    if (d <= 1) return 1.25 * d * d * d - 2.25 * d * d + 1;
    return d < 2 ? -.75 * (d * d * d - 5 * d * d + 8 * d - 4) : 0.;
  };
  double const h = place(down, 5), w = place(right, 6);
  double sum = 0;
  for (int i = -4; i < 10; ++i)
    for (int j = -4; j < 11; ++j) sum += pixel(i, j) * share(h - i) * share(w - j);
  return sum;
}

template <grid_sample How>
void check_samples() {
  auto const x = some_numbers(2 * 5 * 6 * 3, 5);
  std::vector<float> grid = some_numbers(2 * 7 * 2, 6);
  for (float& g : grid) g = g * .45f + .01f;  // from -1.1 to 1.1, away from the middle between pixels
  std::vector<double> expected;
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 7; ++p)
      for (int c = 0; c < 3; ++c) {
        float const* at = &grid[std::size_t(n * 7 + p) * 2];
        expected.push_back(sample(x, How, n, c, double(at[0]), double(at[1])));
      }
  check_values<sampled<How>>(grid, x, expected);
}

}  // namespace

TEST_CASE("elements are taken along an axis, and by tuples of indices, which may count from the end") {
  auto const x = some_numbers(3 * 6 * 5, 1);
  std::vector<float> at(3 * 4 * 5);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = float(int(i * 7 % 12) - 6);
  std::vector<double> expected;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::size_t const n = i / 20, c = i % 5, k = std::size_t(at[i] < 0 ? at[i] + 6 : at[i]);
    expected.push_back(double(x[(n * 6 + k) * 5 + c]));
  }
  check_values<gathered>(at, x, expected);

  auto const y = some_numbers(2 * 12 * 5, 2);
  std::vector<float> pairs;
  expected.clear();
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 6; ++i) {
      int const a = i % 3, b = (i + n) % 4;
      pairs.insert(pairs.end(), {float(i < 2 ? a - 3 : a), float(n ? b - 4 : b)});
      for (int c = 0; c < 5; ++c) expected.push_back(double(y[std::size_t(((n * 3 + a) * 4 + b) * 5 + c)]));
    }
  check_values<tuples>(pairs, y, expected);
}

TEST_CASE("sequences are reversed up to their lengths") {
  auto const x = some_numbers(3 * 6 * 5, 3);
  std::vector<float> const lengths{1, 6, 4};
  std::vector<double> expected;
  for (int n = 0; n < 3; ++n)
    for (int i = 0; i < 6; ++i)
      for (int c = 0; c < 5; ++c) {
        int const length = int(lengths[std::size_t(n)]), at = i < length ? length - 1 - i : i;
        expected.push_back(double(x[std::size_t((n * 6 + at) * 5 + c)]));
      }
  check_values<reversed>(lengths, x, expected);
}

TEST_CASE("windows are added where a convolution would read them") {
  auto const x = some_numbers(2 * 3 * 2 * 3 * 3 * 4, 4);
  std::vector<double> expected(2 * 4 * 7 * 3);
  std::size_t from = 0;
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
          for (int h = 0; h < 3; ++h)
            for (int w = 0; w < 4; ++w, ++from) {
              int const y = h + 2 * i, z = 2 * w + j - 1;
              if (y < 4 && z >= 0 && z < 7) expected[std::size_t(((n * 4 + y) * 7 + z) * 3 + c)] += double(x[from]);
            }
  check_values<added>({}, x, expected);
}

TEST_CASE("images are sampled at positions, with zeros, the border or a reflection outside") {
  using how = grid_sample;
  check_samples<how{}>();
  check_samples<how{.outside = how::border, .align_corners = true}>();
  check_samples<how{.outside = how::reflection}>();
  check_samples<how{.mode = how::nearest, .align_corners = true}>();
  check_samples<how{.mode = how::nearest, .outside = how::border}>();
  check_samples<how{.mode = how::nearest, .outside = how::reflection, .align_corners = true}>();
  check_samples<how{.mode = how::bicubic}>();
  check_samples<how{.mode = how::bicubic, .outside = how::border}>();
  check_samples<how{.mode = how::bicubic, .outside = how::reflection}>();
  check_samples<how{.mode = how::bicubic, .outside = how::reflection, .align_corners = true}>();
}
