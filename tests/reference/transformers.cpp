// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor's products of two values, softmax and layer norm, compared with results by hand and with float32.
#include "by_hand.hpp"

namespace {

using ago::op;
using reference::builder;
using reference::check_close;
using reference::outputs_of;

/// The largest error of float32 results, in units of the estimate.
double worst(reference::value const& expected, std::vector<float> const& got) {
  REQUIRE(got.size() == expected.exact.size());
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    most = std::max(most, std::abs(double(got[i]) - expected.exact[i]) / expected.error[i]);
  return most;
}

std::vector<float> numbers(std::size_t count, float reach, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-reach, reach);
  std::vector<float> all(count);
  for (float& x : all) x = uniform(random);
  return all;
}

}  // namespace

TEST_CASE("a matrix product of two values") {
  builder b;
  int const x = b.input({1, 1, 2, 2}), y = b.input({1, 1, 2, 2});
  SUBCASE("plain") {
    b.matmul(x, y, false, 2);
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}, {1, 10, 100, 1000}}), {402, 4020, 806, 8060});
  }
  SUBCASE("transposed") {
    b.matmul(x, y, true, 2);
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}, {1, 10, 100, 1000}}), {42, 4200, 86, 8600});
  }
}

TEST_CASE("heads read only their own channels") {
  builder b;
  int const x = b.input({1, 1, 2, 2}), y = b.input({1, 1, 2, 2});
  int const p = b.attention_scores(x, y, 2, {}, 2);
  REQUIRE(b.shape(p) == ago::shape{1, 2, 2, 2});
  SUBCASE("scores") {
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}, {1, 10, 100, 1000}}), {2, 200, 6, 600, 40, 4000, 80, 8000});
  }
  SUBCASE("values") {
    b.attention_values(p, x, {1, 1, 2, 2});
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}, {1, 10, 100, 1000}}), {602, 16080, 1806, 32160});
  }
}

TEST_CASE("tokens at the same place of their patches form a sequence") {
  builder b;
  int const x = b.input({1, 2, 2, 1});
  ago::ir::patch const patch{2, 1};
  int const p = b.attention_scores(x, x, 1, patch);
  REQUIRE(b.shape(p) == ago::shape{2, 1, 2, 2});
  SUBCASE("scores") { check_close(outputs_of(b, {}, {{1, 2, 3, 4}}), {1, 2, 2, 4, 9, 12, 12, 16}); }
  SUBCASE("values") {
    b.attention_values(p, x, {1, 2, 2, 1}, patch);
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}}), {5, 10, 75, 100});
  }
}

TEST_CASE("softmax and layer norm work on the channels of each pixel") {
  builder b;
  int const x = b.input({1, 1, 2, 2});
  SUBCASE("softmax") {
    b.unary(op::softmax, x);
    float const one = std::log(3.f);
    double const part = 1 / (1 + std::exp(-double(one)));
    check_close(outputs_of(b, {}, {{1000 + 0, 1000, one, 0}}), {.5, .5, part, 1 - part});
  }
  SUBCASE("layer norm") {
    b.layer_norm(x, 3);  // variances 1 and 6.25
    //                                gamma    beta
    check_close(outputs_of(b, {2, 4, 10, 100}, {{3, 5, 5, 0}}),
                {10 - 1., 100 + 2., 10 + 5 / std::sqrt(9.25), 100 - 10 / std::sqrt(9.25)});
  }
  SUBCASE("positions") {
    b.positions(x);
    check_close(outputs_of(b, {10, 20, 30, 40}, {{1, 2, 3, 4}}), {11, 22, 33, 44});
  }
}

TEST_CASE("the error estimate covers softmax in float32 closely") {
  builder b;
  b.unary(op::softmax, b.input({1, 1, 50, 80}));
  auto const x = numbers(4000, 20, 1);
  std::vector<float> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += 80) {
    float sum = 0;
    float const largest = *std::max_element(x.begin() + long(first), x.begin() + long(first) + 80);
    for (std::size_t i = first; i < first + 80; ++i) sum += y[i] = std::exp(x[i] - largest);
    for (std::size_t i = first; i < first + 80; ++i) y[i] /= sum;
  }
  double const most = worst(reference::run_all(b.graph, {}, {x})[1], y);
  CHECK(most < 4);
  CHECK(most > .1);
}

TEST_CASE("the error estimate covers layer norm in float32 closely") {
  for (float offset : {0.f, 100.f}) {
    CAPTURE(offset);
    builder b;
    b.layer_norm(b.input({1, 1, 50, 80}));
    auto x = numbers(4000, 1, 2);
    for (float& v : x) v += offset;
    auto const parameters = numbers(160, 1, 3);
    std::vector<float> y(x.size());
    for (std::size_t first = 0; first < x.size(); first += 80) {
      float sum = 0, squares = 0;
      for (std::size_t c = 0; c < 80; ++c) sum += x[first + c];
      float const mean = sum / 80;
      for (std::size_t c = 0; c < 80; ++c) squares += (x[first + c] - mean) * (x[first + c] - mean);
      float const scale = 1 / std::sqrt(squares / 80 + 1e-5f);
      for (std::size_t c = 0; c < 80; ++c)
        y[first + c] = (x[first + c] - mean) * scale * parameters[c] + parameters[80 + c];
    }
    double const most = worst(reference::run_all(b.graph, parameters, {x})[1], y);
    CHECK(most < 4);
    CHECK(most > .1);
  }
}

TEST_CASE("an error in one channel affects the others through mean and variance") {
  ago::ir::node const n{.kind = op::layer_norm, .out = {1, 1, 1, 3}, .alpha = 1e-5f, .weight = 0, .shift = 3};
  std::vector<float> const parameters{1, 1, 1, 0, 0, 0};
  reference::value exact{n.out, {2, 2, -4}, {1e-3, 0, 0}}, moved = exact, result = exact, moved_result = exact;
  moved.exact[0] += 1e-3;
  reference::detail::layer_norm(n, parameters, exact, result);
  reference::detail::layer_norm(n, parameters, moved, moved_result);
  double most = 0;
  for (std::size_t c = 0; c < 3; ++c)
    most = std::max(most, std::abs(moved_result.exact[c] - result.exact[c]) / result.error[c]);
  CHECK(most < 1);
  CHECK(most > .3);
}

TEST_CASE("errors of both operands affect a product of two values") {
  auto const p = numbers(40, 2, 4), q = numbers(40, 2, 5);
  for (bool first : {true, false}) {
    CAPTURE(first);
    builder b;
    int const x = b.input({1, 1, 40, 1}), y = b.input({1, 1, 40, 1}), up = b.input({1, 1, 1, 1}),
              down = b.input({1, 1, 1, 1});
    int const rounded = b.binary(op::add, b.binary(op::add, first ? x : y, up), down);  // to a multiple of 2^-14
    b.matmul(first ? rounded : x, first ? y : rounded, true);
    std::vector<float> result;
    for (float const u : p)
      for (float const v : q) {
        float const far = (first ? u : v) + 1000;
        result.push_back((far - 1000) * (first ? v : u));
      }
    double const most = worst(reference::run_all(b.graph, {}, {p, q, {1000}, {-1000}}).back(), result);
    CHECK(most < 2);
    CHECK(most > .3);
  }
}
