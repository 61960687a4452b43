// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers, initial parameters, and the patterns that select parameters.
#include <ago/ago.hpp>
#include <ago/learning/initialise.hpp>
#include <ago/learning/trained_rows.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace ago;
using namespace ago::learning;

TEST_CASE("Philox has the published known answers") {
  auto const is = [](philox::block const& b, std::uint32_t a, std::uint32_t c, std::uint32_t d, std::uint32_t e) {
    return b.of[0] == a && b.of[1] == c && b.of[2] == d && b.of[3] == e;
  };
  static_assert(philox(0)(0).of[0] == 0x6627e8d5u);
  CHECK(is(philox(0)(0), 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  CHECK(is(philox(~0ull)(~0ull, ~0ull), 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  CHECK(is(philox(0x299f31d0a4093822ull)(0x85a308d3243f6a88ull, 0x0370734413198a2eull), 0xd16cfe09u, 0x94fdccebu,
           0x5001e420u, 0x24126ea1u));
}

TEST_CASE("a pattern matches whole names, and an asterisk any characters") {
  parameter const p{.role = role::weight, .name = "features.3.conv"}, unnamed{.role = role::bias};
  auto const matches = [&](auto const& text) { return name_pattern(text).matches(p); };
  CHECK(matches("*"));
  CHECK(matches("features.3.conv.weight"));
  CHECK(matches("features.*"));
  CHECK(matches("*.weight"));
  CHECK(matches("features.*.conv.*"));
  CHECK(matches("head.*,*.3.*"));
  CHECK(!matches(""));
  CHECK(!matches("features"));
  CHECK(!matches("features.3.conv"));
  CHECK(!matches("features.3.conv.weights"));
  CHECK(!matches("*.bias"));
  CHECK(!matches("head.*,tail.*"));
  CHECK(name_pattern("bias").matches(unnamed));
  CHECK(!name_pattern(".bias").matches(unnamed));
}

TEST_CASE("initial parameters are those of PyTorch's distributions") {
  static constexpr auto net = input{.h = 8, .w = 8, .c = 16} | conv2d{.out = 64, .kernel = 3, .bias = true} |
                              batch_norm{} | prelu{} | global_avg_pool{} | linear{10};
  constexpr auto const& table = parameters<net>;
  std::vector<float> all(std::size_t(parameter_count<net>)), again = all;
  initialise(table, std::span<float>(all), 5);
  initialise(table, std::span<float>(again), 5);
  CHECK(all == again);
  initialise(table, std::span<float>(again), 6);
  CHECK(all != again);
  for (parameter const& p : table) {
    double sum = 0, squares = 0, largest = 0;
    for (int i = 0; i < p.count(); ++i) {
      double const x = double(all[std::size_t(p.offset + i)]);
      sum += x, squares += x * x, largest = std::max(largest, std::fabs(x));
    }
    double const n = p.count(), mean = sum / n;
    double const bound = p.layer == 1 ? 1 / std::sqrt(9. * 16) : 1 / 8.;
    if (p.kind == op::prelu) CHECK(mean == .25);
    else if (p.role == role::gamma || p.role == role::variance) CHECK(mean == 1);
    else if (p.role == role::beta || p.role == role::mean) CHECK(largest == 0);
    else {
      CHECK(largest <= bound);
      if (n < 100) continue;
      CHECK(largest > .95 * bound);
      CHECK(std::fabs(mean) < .15 * bound);
      CHECK(squares / n == doctest::Approx(bound * bound / 3).epsilon(.15));
    }
  }
}

TEST_CASE("running statistics of a batch norm are kept if its gamma or beta is trained") {
  static constexpr auto net =
      input{.c = 4} | named("a", linear{4}) | named("norm", batch_norm{}) | named("b", linear{2});
  constexpr auto const& table = parameters<net>;
  constexpr auto all = learning::rows_to_train(table, {});
  CHECK(all.use[4] == row_use::statistic);
  CHECK(all.use[5] == row_use::statistic);
  CHECK(all.floats == parameter_count<net>);
  CHECK(all.trained == 6);
  constexpr auto frozen = learning::rows_to_train(table, {.freeze = "norm.*"});
  CHECK(frozen.use[4] == row_use::frozen);
  CHECK(frozen.floats == 4 * 4 + 4 + 2 * 4 + 2);
  constexpr auto beta = learning::rows_to_train(table, {.train = "norm.beta"});
  CHECK(beta.use[2] == row_use::frozen);
  CHECK(beta.use[5] == row_use::statistic);
}
