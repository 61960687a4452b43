// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers composed of others, compared with plain loops: norms, and borders of a padded image.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace ago;

namespace {

constexpr shape image{2, 5, 6, 12};
constexpr input source{.n = 2, .h = 5, .w = 6, .c = 12};

double at(std::vector<float> const& x, shape const& s, int n, int y, int w, int c) {
  return double(x[std::size_t(((long(n) * s.h + y) * s.w + w) * s.c + c)]);
}

/// Compares a network's result on `image` with its definition, whose element (n, y, x, c) is
/// f(input, weights, n, y, x, c).
template <auto const& Net, class F>
void compare(F f, double tolerance = 2e-6) {
  using program = ago::program<Net>;
  auto const x = model_test::random_floats(program::input_size(0), 7, 2, 4);
  auto const weights = model_test::random_floats(program::parameter_count, 8);
  auto const y = model_test::result_of<Net>(x, weights);
  shape const out = program::graph.nodes[program::graph.outputs[0]].out;
  double worst = 0;
  for (int n = 0; n < out.n; ++n)
    for (int h = 0; h < out.h; ++h)
      for (int w = 0; w < out.w; ++w)
        for (int c = 0; c < out.c; ++c)
          worst = std::max(worst, std::fabs(at(y, out, n, h, w, c) - f(x, weights, n, h, w, c)));
  CHECK(worst <= tolerance);
}

/// (x - mean) / sqrt(variance + 1e-5) over channels first ... last - 1 of an image.
double standardised(std::vector<float> const& v, int n, int y, int x, int c, int first, int last) {
  double sum = 0, squares = 0, count = image.h * image.w * (last - first);
  auto const each = [&](auto f) {
    for (int h = 0; h < image.h; ++h)
      for (int w = 0; w < image.w; ++w)
        for (int k = first; k < last; ++k) f(at(v, image, n, h, w, k));
  };
  each([&](double z) { sum += z; });
  each([&](double z) { squares += (z - sum / count) * (z - sum / count); });
  return (at(v, image, n, y, x, c) - sum / count) / std::sqrt(squares / count + double(1e-5f));
}

constexpr auto by_groups = source | group_norm{3};
constexpr auto plain = source | group_norm{.groups = 2, .affine = false};
constexpr auto by_channel = source | instance_norm{};
constexpr auto root_mean = source | rms_norm{.epsilon = .5f};
constexpr auto length = source | l2_normalize{};
constexpr auto length_of_rows = source | l2_normalize{axis::rows, 100.f};
constexpr auto neighbours = source | local_response_norm{.size = 4, .alpha = .5f, .beta = .75f, .bias = 2};
constexpr auto mirrored = source | pad{.sides = pads{2, 3, 4, 0}, .mode = pad_mode::reflect};
constexpr auto edged = source | pad{.sides = pads{7, 1, 0, 2}, .mode = pad_mode::edge, .channels_after = 2};
constexpr auto wrapped = source | pad{.sides = {5, 2}, .mode = pad_mode::wrap, .channels_before = 3};
constexpr auto deeper = source | pad{.sides = 1, .value = .5f, .channels_before = 2, .channels_after = 1};
constexpr auto backwards = source | slice{10, 4, axis::channels, -3} | slice{4, 5, axis::rows, -1};
constexpr auto tiled = source | tile{2, 1, 3, 2};

constexpr auto in_place = source | max_pool{2, 1} | layer_norm{} | softmax{} | max_pool{2, 1};

}  // namespace

TEST_CASE("group norm normalises each image and group to mean 0 and variance 1, then scales and shifts") {
  compare<by_groups>([](auto const& v, auto const& p, int n, int y, int x, int c) {
    double const z = standardised(v, n, y, x, c, c / 4 * 4, c / 4 * 4 + 4);
    return z * double(p[std::size_t(c)]) + double(p[std::size_t(12 + c)]);
  });
  compare<plain>([](auto const& v, auto const&, int n, int y, int x, int c) {
    return standardised(v, n, y, x, c, c / 6 * 6, c / 6 * 6 + 6);
  });
  compare<by_channel>([](auto const& v, auto const& p, int n, int y, int x, int c) {
    return standardised(v, n, y, x, c, c, c + 1) * double(p[std::size_t(c)]) + double(p[std::size_t(12 + c)]);
  });
}

TEST_CASE("a pixel is divided by the root of its mean square, or by its length") {
  auto const squares = [](auto const& v, int n, int y, int x) {
    double sum = 0;
    for (int c = 0; c < 12; ++c) sum += at(v, image, n, y, x, c) * at(v, image, n, y, x, c);
    return sum;
  };
  compare<root_mean>([&](auto const& v, auto const& p, int n, int y, int x, int c) {
    return at(v, image, n, y, x, c) / std::sqrt(squares(v, n, y, x) / 12 + .5) * double(p[std::size_t(c)]);
  });
  compare<length>([&](auto const& v, auto const&, int n, int y, int x, int c) {
    return at(v, image, n, y, x, c) / std::sqrt(squares(v, n, y, x));
  });
  compare<length_of_rows>([](auto const& v, auto const&, int n, int y, int x, int c) {
    return at(v, image, n, y, x, c) / 100;  // longer than all of them
  });
}

TEST_CASE("local response norm divides by a power of the neighbouring channels' mean square") {
  compare<neighbours>([](auto const& v, auto const&, int n, int y, int x, int c) {
    double sum = 0;
    for (int k = std::max(c - 1, 0); k <= std::min(c + 2, 11); ++k) sum += std::pow(at(v, image, n, y, x, k), 2);
    return at(v, image, n, y, x, c) / std::pow(2 + .5 / 4 * sum, .75);
  });
}

TEST_CASE("borders mirror the image, hold its edge, or repeat it, along rows, columns and channels") {
  auto const mirror = [](int i, int extent) { return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i; };
  auto const hold = [](int i, int extent) { return std::clamp(i, 0, extent - 1); };
  auto const wrap = [](int i, int extent) { return (i + extent) % extent; };
  compare<mirrored>([&](auto const& v, auto const&, int n, int y, int x,
                        int c) { return at(v, image, n, mirror(y - 2, 5), mirror(x - 3, 6), c); },
                    0);
  compare<edged>([&](auto const& v, auto const&, int n, int y, int x,
                     int c) { return at(v, image, n, hold(y - 7, 5), hold(x - 1, 6), hold(c, 12)); },
                 0);
  compare<wrapped>([&](auto const& v, auto const&, int n, int y, int x,
                       int c) { return at(v, image, n, wrap(y - 5, 5), wrap(x - 2, 6), wrap(c - 3, 12)); },
                   0);
  compare<deeper>(
      [&](auto const& v, auto const&, int n, int y, int x, int c) {
        bool const inside = y > 0 && y < 6 && x > 0 && x < 7 && c > 1 && c < 14;
        return inside ? at(v, image, n, y - 1, x - 1, c - 2) : .5;
      },
      0);
}

TEST_CASE("slices go backwards, tiles repeat") {
  compare<backwards>(
      [](auto const& v, auto const&, int n, int y, int x, int c) { return at(v, image, n, 4 - y, x, 10 - 3 * c); }, 0);
  compare<tiled>(
      [](auto const& v, auto const&, int n, int y, int x, int c) { return at(v, image, n % 2, y, x % 6, c % 12); }, 0);
}

TEST_CASE("layer norm and softmax write over what they read") {
  auto const& memory = program<in_place>::memory;
  CHECK(memory.buffer_count == 3);
  for (int b = 0; b < memory.buffer_count; ++b) CHECK(memory.buffers[b].offset == 0);
  auto const pooled = [](auto const& of, int y, int x) {
    return std::max({of(y, x), of(y, x + 1), of(y + 1, x), of(y + 1, x + 1)});
  };
  compare<in_place>([&](auto const& v, auto const& p, int n, int row, int column, int channel) {
    return pooled(
        [&](int y, int x) {
          double value[12], mean = 0, variance = 0, sum = 0;
          for (int c = 0; c < 12; ++c) {
            value[c] = pooled([&](int h, int w) { return at(v, image, n, h, w, c); }, y, x);
            mean += value[c] / 12;
          }
          for (double const z : value) variance += (z - mean) * (z - mean) / 12;
          for (int c = 0; c < 12; ++c) {
            double const z = (value[c] - mean) / std::sqrt(variance + double(1e-5f));
            value[c] = std::exp(z * double(p[std::size_t(c)]) + double(p[std::size_t(12 + c)]));
            sum += value[c];
          }
          return value[channel] / sum;
        },
        row, column);
  });
}
