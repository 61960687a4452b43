// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on two values, trained values and slopes: fused with the kernels that produce their operands, and correct.
#include <ago/ago.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

using namespace ago;

namespace {

std::vector<float> numbers(std::size_t count, float step) {
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = std::sin(float(i) * step) + .25f;
  return v;
}

/// The result of a network with one input, run on `numbers`; its parameters are `numbers` as well.
template <auto const& Net>
struct called {
  using program = ago::program<Net>;
  std::vector<float> x = numbers(program::input_size(0), .7f), parameters = numbers(program::parameter_count, 1.3f);
  std::vector<float> y = std::vector<float>(program::output_size(0));
  std::vector<float> z = std::vector<float>(program::output_size(program::outputs - 1));

  called() {
    auto const net = std::make_unique<model<Net>>(
        std::span<float const, program::parameter_count>(parameters.data(), parameters.size()));
    std::span<float const, program::input_size(0)> const in(x.data(), x.size());
    std::span<float, program::output_size(0)> const first(y.data(), y.size());
    if constexpr (program::outputs == 1) (*net)(in, first);
    else (*net)(in, first, std::span<float, program::output_size(1)>(z.data(), z.size()));
  }
  double parameter(long i) const { return double(parameters[std::size_t(i)]); }
};

constexpr input image{.h = 4, .w = 5, .c = 6};

constexpr auto slopes = image | pointwise{.out = 7, .bias = true} | prelu{} | scale{} | prelu{.shared = true};
static_assert(program<slopes>::steps == 1);

constexpr auto difference = image | [](tensor x) { return (x | constant{.c = 1}) - (x | pointwise{6} | relu{}) * x; };
static_assert(program<difference>::steps == 1);  // a constant takes no step

constexpr auto trained = trace(
    [](tensor x) {
      tensor const c = x | constant{.h = 4, .w = 5, .c = 2};
      return outputs(concat(c, x), c);
    },
    image);

constexpr auto product = image | [](tensor x) {
  tensor const table = x | constant{.w = 6, .c = 3};
  return matmul(x, table) + (table | slice{2, 1, axis::columns});
};

}  // namespace

TEST_CASE("slopes and factors are applied by the convolution before them") {
  called<slopes> const net;
  double worst = 0;
  for (int p = 0; p < 20; ++p)
    for (int o = 0; o < 7; ++o) {
      double v = net.parameter(42 + o);
      for (int c = 0; c < 6; ++c) v += net.parameter(o * 6 + c) * double(net.x[std::size_t(p * 6 + c)]);
      if (v < 0) v *= net.parameter(49 + o);
      v *= net.parameter(56 + o);
      if (v < 0) v *= net.parameter(63);
      worst = std::max(worst, std::fabs(v - double(net.y[std::size_t(p * 7 + o)])));
    }
  CHECK(program<slopes>::parameter_count == 64);
  CHECK(worst < 2e-6);
}

TEST_CASE("a value can be subtracted from a trained number in the kernel that produces it") {
  called<difference> const net;
  double worst = 0;
  for (int p = 0; p < 20; ++p)
    for (int o = 0; o < 6; ++o) {
      double v = 0;
      for (int c = 0; c < 6; ++c) v += net.parameter(1 + o * 6 + c) * double(net.x[std::size_t(p * 6 + c)]);
      v = net.parameter(0) - std::max(v, 0.) * double(net.x[std::size_t(p * 6 + o)]);
      worst = std::max(worst, std::fabs(v - double(net.y[std::size_t(p * 6 + o)])));
    }
  CHECK(worst < 2e-6);
}

TEST_CASE("a trained value can be part of a concatenation, and a result") {
  called<trained> const net;
  std::size_t wrong = 0;
  for (int p = 0; p < 20; ++p)
    for (int c = 0; c < 8; ++c) {
      double const expected = c < 2 ? net.parameter(p * 2 + c) : double(net.x[std::size_t(p * 6 + c - 2)]);
      wrong += double(net.y[std::size_t(p * 8 + c)]) != expected;
    }
  for (int i = 0; i < 40; ++i) wrong += double(net.z[std::size_t(i)]) != net.parameter(i);
  CHECK(wrong == 0);
}

TEST_CASE("a trained value can be a factor of a matrix product, and parts of it can be read") {
  called<product> const net;
  double worst = 0;
  for (int p = 0; p < 20; ++p)
    for (int o = 0; o < 3; ++o) {
      double v = net.parameter(2 * 3 + o);
      for (int c = 0; c < 6; ++c) v += double(net.x[std::size_t(p * 6 + c)]) * net.parameter(c * 3 + o);
      worst = std::max(worst, std::fabs(v - double(net.y[std::size_t(p * 3 + o)])));
    }
  CHECK(worst < 2e-6);
}
