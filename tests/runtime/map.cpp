// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's own elementwise operators, alone and in epilogues.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace model_test;

namespace {

inline constexpr auto mish_like = [](auto x) { return x * math::tanh(math::log(math::exp(x) + 1.f)); };
inline constexpr auto bent = [](auto x) { return math::max(math::abs(x), math::sqrt(x * x + .5f)) - math::sigmoid(x); };

inline constexpr auto alone = input{.h = 3, .w = 5, .c = 7} | map{mish_like};
inline constexpr auto fused = input{.h = 3, .w = 5, .c = 7} | pointwise{9} | map{bent} | map{mish_like};

double exact_mish(double x) { return x * std::tanh(std::log(std::exp(x) + 1)); }
double bend(double x) { return std::max(std::fabs(x), std::sqrt(x * x + .5)) - 1 / (1 + std::exp(-x)); }

template <isa I>
void check_alone() {
  using net = model<alone, untuned, I>;
  static net m{std::span<float const, 0>()};
  auto const x = random_floats(net::input_size(), 1, -4, 4);
  std::vector<float> y(x.size());
  CHECK(m.try_run(x, y) == status::ok);
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == doctest::Approx(exact_mish(x[i])).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a lambda runs on every instruction set") {
  check_alone<native_isa>();
  check_alone<isa::scalar>();
}

TEST_CASE("lambdas after a convolution become its epilogue") {
  using net = model<fused>;
  static_assert(net::steps == 1);
  auto const weights = random_weights<fused>(1);
  static net m{weights_span<net>(weights)};
  auto const x = random_floats(net::input_size(), 2);
  std::vector<float> y(net::output_size());
  CHECK(m.try_run(x, y) == status::ok);
  for (std::size_t p = 0; p < 15; ++p)
    for (std::size_t o = 0; o < 9; ++o) {
      double sum = 0;
      for (std::size_t k = 0; k < 7; ++k) sum += double(x[p * 7 + k]) * weights[o * 7 + k];
      REQUIRE(y[p * 9 + o] == doctest::Approx(exact_mish(bend(sum))).epsilon(1e-5));
    }
}
