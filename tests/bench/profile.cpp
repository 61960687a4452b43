// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accounts of the steps of a plan, and the profile made from them.
#include <bench/profile.hpp>
#include <bench/registry.hpp>

#include <doctest/doctest.h>

using namespace bench;

namespace {

using ago::tensor;

inline constexpr auto one = ago::input{.h = 3, .w = 5, .c = 16} | ago::pointwise{32} | ago::relu{};
inline constexpr auto residual = ago::input{.h = 56, .w = 56, .c = 16} | [](tensor x) {
  tensor const y = x | ago::pointwise{16};
  return y + (y | ago::pointwise{96} | ago::relu6{} | ago::depthwise{.kernel = 3, .pad = 1} | ago::pointwise{16});
};
inline constexpr auto pieces = ago::input{.h = 4, .w = 4, .c = 8} | ago::pointwise{24} | [](tensor x) {
  auto const [left, right] = ago::chunk<2>(x);
  return ago::concat(left, right | ago::depthwise{.kernel = 3, .pad = 1} | ago::pointwise{12}) |
         ago::channel_shuffle{2} | ago::depthwise{.kernel = 3, .pad = 1};
};
inline constexpr auto attending = ago::input{.w = 12, .c = 8} | ago::linear{24} | ago::attention{.heads = 2};

template <auto const& Net>
entry entered() {
  return {"net",
          5,
          ago::passes::optimized<Net>::value,
          {make_network_variant<ago::model<Net>>("ago"),
           make_network_variant<ago::model<Net, ago::untuned, ago::policy::ago_ni>>("ago-ni")}};
}

template <auto const& Net>
void check_sum(long expected) {
  entry const e = entered<Net>();
  CHECK(e.graph.multiply_adds() == expected);
  for (variant const& v : e.variants) {
    long sum = 0;
    for (step_account const& a : v.accounts) sum += a.multiply_adds;
    CHECK(sum == expected);
    CHECK(int(v.accounts.size()) == v.steps);
  }
}

}  // namespace

TEST_CASE("multiply-adds of the steps add up to those of the network, fused or not") {
  check_sum<one>(3 * 5 * 16 * 32);
  check_sum<residual>(56 * 56 * (16 * 16 + 2 * 16 * 96 + 9 * 96));
  check_sum<pieces>(16 * (8 * 24 + 9 * 12 + 12 * 12 + 9 * 24));
  check_sum<attending>(12 * 8 * 24 + 2 * 12 * 12 * 8);
}

TEST_CASE("predicted cycles become time at the clock at which the peak was measured") {
  entry const e = entered<one>();
  variant const& v = e.variants[0];
  REQUIRE(v.accounts[0].predicted_cycles > 0);
  CHECK(v.peak_per_cycle >= 2 * ago::ir::lanes(v.target));
  CHECK(predicted_seconds(v, 3000, 3e9 * v.peak_per_cycle) == doctest::Approx(1e-6));
  CHECK(predicted_seconds(v, 3000, 1.5e9 * v.peak_per_cycle) == doctest::Approx(2e-6));
}

TEST_CASE("a step reads its source and its weights, and writes its result") {
  entry const e = entered<one>();
  REQUIRE(e.variants[0].accounts.size() == 1);
  step_account const& a = e.variants[0].accounts[0];
  CHECK(a.bytes == long(4 * (15 * 16 + 15 * 32) + e.variants[0].weight_bytes));
  CHECK(a.kernel == "pointwise");
  CHECK(a.layers == "3x5x16 > 3x5x32 relu");
}

TEST_CASE("values between the parts of a pipeline cause no memory traffic") {
  entry const e = entered<residual>();
  auto const bytes = [](variant const& v) {
    long sum = 0;
    for (step_account const& a : v.accounts) sum += a.bytes;
    return sum;
  };
  REQUIRE(e.variants[0].steps < e.variants[1].steps);
  CHECK(bytes(e.variants[0]) < bytes(e.variants[1]));
}

TEST_CASE("steps one after another compute the network") {
  entry const e = entered<residual>();
  std::vector<float> const parameters = make_parameters(e.graph, 1);
  buffer const in(56 * 56 * 16), whole(56 * 56 * 16), stepwise(56 * 56 * 16);
  for (std::size_t i = 0; i < in.span().size(); ++i) in.data()[i] = uniform(2, i, -1, 1);
  for (variant const& v : e.variants) {
    v.prepare(parameters, in.data(), whole.data(), 0)();
    auto const run_step = v.prepare_steps(parameters, in.data(), stepwise.data());
    for (int i = 0; i < v.steps; ++i) run_step(i);
    CHECK(std::equal(whole.span().begin(), whole.span().end(), stepwise.span().begin()));
  }
}

TEST_CASE("a profile has a row for each step and one for their sum") {
  entry const e = entered<pieces>();
  std::vector<record> const rows = profile(e, e.variants[0], 3);
  REQUIRE(int(rows.size()) == e.variants[0].steps + 1);
  double shares = 0, times = 0, again = 0;
  auto const get = [](record const& r, std::string const& name) {
    for (field const& f : r)
      if (f.name == name) return f.text;
    return std::string("missing");
  };
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    shares += std::stod(get(rows[i], "percent"));
    times += std::stod(get(rows[i], "median_us"));
    again += std::stod(get(rows[i], "again_us"));
    CHECK(get(rows[i], "step") == std::to_string(i));
  }
  CHECK(shares == doctest::Approx(100).epsilon(.02));
  CHECK(get(rows.back(), "step") == "all");
  CHECK(std::stod(get(rows.back(), "median_us")) == doctest::Approx(times).epsilon(.02));
  CHECK(std::stod(get(rows.back(), "again_us")) == doctest::Approx(again).epsilon(.02));
  CHECK(again > 0);
  CHECK_THROWS_AS(profile(e, make_variant<ago::model<pieces>>("whole"), 3), std::invalid_argument);
}
