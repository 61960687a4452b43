// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a trainer promises beyond the values of its gradients.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace ago;

inline constexpr auto net = input{.c = 6} | named("first", linear{8}) | relu{} | named("last", linear{3});

/// The optimizer of a user: the sign of the gradient.
struct by_sign {
  static constexpr int states = 0;
  auto operator()(float rate, long) const {
    return [rate](auto& p, auto g) {
      using v = std::remove_reference_t<decltype(p)>;
      p = p - where_less(g, v(0.f), v(-rate), where_less(v(0.f), g, v(rate), v(0.f)));
    };
  }
};
/// The loss of a user: the largest squared difference.
inline constexpr auto largest_square =
    expression::compute("largest_square", [](expression::operand y, expression::operand target) {
      expression::var one{1}, n, h, w, c;
      auto const d = y(n, h, w, c) - target(n, h, w, c);
      return expression::result(one) = maximum(n, h, w, c)(d * d);
    });

template <std::size_t N>
std::array<float, N> drawn(std::uint64_t seed) {
  std::array<float, N> r;
  philox const random(seed);
  for (std::size_t i = 0; i < N; ++i) r[i] = 2 * philox::uniform(random(i).of[0]) - 1;
  return r;
}
template <class T>
std::vector<float> copied(T const& x) {
  return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("equal trainers take equal steps, bit by bit") {
  using trainer = ago::trainer<net, cross_entropy, adam, training{.batch = 4}>;
  static trainer a(7), b(7), c(8);
  CHECK(copied(a.parameters()) == copied(b.parameters()));
  CHECK(copied(a.parameters()) != copied(c.parameters()));
  int const labels[] = {0, 2, 1, 2};
  for (int step = 0; step < 20; ++step) {
    auto const x = drawn<24>(std::uint64_t(step));
    CHECK(a.step(x, labels) == b.step(x, labels));
  }
  CHECK(copied(a.parameters()) == copied(b.parameters()));
  CHECK(a.updates() == 20);
}

TEST_CASE("a label that is not a class is refused, and nothing changes") {
  using trainer = ago::trainer<net, cross_entropy, sgd, training{.batch = 2}>;
  static trainer t(1);
  auto const before = copied(t.parameters());
  auto const x = drawn<12>(1);
  for (int const wrong : {-1, 3, 1 << 30}) {
    int const labels[] = {1, wrong};
    CHECK(std::isnan(t.step(x, labels)));
    CHECK(t.status() == training_status::label_out_of_range);
    CHECK(copied(t.parameters()) == before);
  }
  int const labels[] = {1, 2};
  CHECK(t.step(x, labels) > 0);
  CHECK(t.status() == training_status::ok);
  CHECK(copied(t.parameters()) != before);
}

TEST_CASE("a loss that is not finite is reported, and parameters and states stay") {
  using trainer = ago::trainer<net, mean_squared_error, adam, training{.batch = 1}>;
  static trainer t(1);
  auto x = drawn<6>(1);
  std::array<float, 3> const target{1, 2, 3};
  t.step(x, target);
  auto const before = copied(t.parameters()), states = copied(t.states());
  x[2] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(t.step(x, target)));
  CHECK(t.status() == training_status::loss_is_not_finite);
  x[2] = std::numeric_limits<float>::infinity();
  t.step(x, target);
  CHECK(t.status() == training_status::loss_is_not_finite);
  CHECK(copied(t.parameters()) == before);
  CHECK(copied(t.states()) == states);
  CHECK(t.updates() == 1);
  CHECK(std::string_view(name_of(t.status())) == "the loss is infinite or not a number");
}

TEST_CASE("only the parameters that match train and do not match freeze change") {
  using last = ago::trainer<net, cross_entropy, sgd, training{.train = "last.*"}>;
  static last t(3);
  static_assert(last::gradient_count == 8 * 3 + 3);
  auto const before = copied(t.parameters());
  auto const x = drawn<6>(5);
  int const label[] = {1};
  for (int i = 0; i < 3; ++i) t.step(x, label);
  int changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i < 6 * 8 + 8) CHECK(t.parameters()[i] == before[i]);
    else changed += t.parameters()[i] != before[i];
  }
  CHECK(changed > 3);  // all biases; a weight of a unit that is off has no gradient

  using weights = ago::trainer<net, cross_entropy, sgd, training{.freeze = "*.bias"}>;
  static_assert(weights::gradient_count == 6 * 8 + 8 * 3);
}

TEST_CASE("gradients of small batches add up to that of a large one") {
  using whole = ago::trainer<net, cross_entropy, sgd, training{.batch = 6}>;
  using parts = ago::trainer<net, cross_entropy, sgd, training{.batch = 2, .accumulate = 3}>;
  static whole a(2);
  static parts b(2);
  auto const x = drawn<36>(9);
  int const labels[] = {0, 1, 2, 2, 1, 0};
  for (int step = 0; step < 3; ++step) {
    a.step(x, labels);
    for (int i = 0; i < 3; ++i) {
      CHECK(b.updates() == step);
      b.step(std::span(x).subspan(std::size_t(12 * i)).template first<12>(),
             std::span(labels).subspan(std::size_t(2 * i)).template first<2>());
    }
    CHECK(b.updates() == step + 1);
    for (std::size_t i = 0; i < a.parameters().size(); ++i)
      CHECK(a.parameters()[i] == doctest::Approx(b.parameters()[i]).epsilon(1e-5));
  }
}

TEST_CASE("a user's loss and optimizer are used") {
  using trainer = ago::trainer<net, largest_square, by_sign, training{.batch = 2}>;
  static trainer t(4);
  t.rate = .01f;
  auto const x = drawn<12>(2);
  std::array<float, 6> const target{0, 1, 0, .5f, 0, 1};
  float const first = t.step(x, target);
  auto const before = copied(t.parameters());
  t.step(x, target);
  int changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    float const d = std::fabs(t.parameters()[i] - before[i]);
    if (d != 0) ++changed;
    CHECK((d == 0 || d == doctest::Approx(.01f).epsilon(1e-4)));
  }
  CHECK(changed > 8);
  for (int i = 0; i < 100; ++i) t.step(x, target);
  CHECK(t.step(x, target) < first / 4);
}

TEST_CASE("dropout zeroes its share, keeps the mean, and depends on seed and step only") {
  static constexpr auto dropped = input{.c = 4000} | dropout{.25f} | scale{} | reduce_mean{axis::channels};
  static constexpr auto squares = expression::compute("sum", [](expression::operand y, expression::operand) {
    expression::var one{1}, n, h, w, c;
    return expression::result(one) = sum(n, h, w, c)(y(n, h, w, c));
  });
  using trainer = ago::trainer<dropped, squares, sgd>;
  std::vector<float> const ones(4000, 1.f);
  std::span<float const, 4000> const all = std::span(ones).first<4000>();
  static trainer a(all), b(all);
  auto const x = std::span(ones).first<4000>();
  float const target[1] = {0};
  float const first = a.backward(x, target);
  CHECK(first == doctest::Approx(1).epsilon(.03));
  int zeros = 0;
  for (float const g : a.gradients()) {  // of each scale: the kept element
    CHECK((g == 0 || g == doctest::Approx(1 / .75 / 4000)));
    zeros += g == 0;
  }
  CHECK(zeros > 900);
  CHECK(zeros < 1100);
  CHECK(b.backward(x, target) == first);
  CHECK(a.backward(x, target) != first);
  CHECK(a.backward(x, target) != b.backward(x, target));
}

TEST_CASE("a model runs with trained parameters, in which dropout has no effect") {
  static constexpr auto regular = input{.c = 6} | linear{8} | batch_norm{} | relu{} | dropout{.5f} | linear{3};
  using trainer = ago::trainer<regular, mean_squared_error, sgd, training{.batch = 8}>;
  static trainer t(4);
  t.rate = .05f;
  auto const x = drawn<48>(2);
  std::array<float, 24> target;
  for (std::size_t i = 0; i < 24; ++i) target[i] = x[i / 3 * 6 + i % 3];
  for (int i = 0; i < 200; ++i) t.step(x, target);
  CHECK(t.status() == training_status::ok);
  static ago::model<regular> m{t.parameters()};
  static_assert(decltype(m)::steps == 2);  // the norm is folded, and no mask is applied
  double error = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    std::array<float, 3> y;
    m(std::span(x).subspan(6 * i).first<6>(), y);
    for (std::size_t k = 0; k < 3; ++k) error += std::pow(double(y[k] - target[3 * i + k]), 2) / 24;
  }
  CHECK(error < .1);
}

TEST_CASE("gradients that are denormal are zero, and what the caller computes afterwards is not") {
  static constexpr auto scale = input{.c = 1} | linear{.out = 1, .bias = false};
  using trainer = ago::trainer<scale, mean_squared_error, sgd>;
  static trainer t(1);
  auto const product = [](float first, float second) {
    float volatile a = first, b = second;
    return a * b;
  };
  std::array const x{1e-30f}, normal{1e-20f}, target{1e-9f};
  REQUIRE(product(-2e-9f, x[0]) != 0);
  t.backward(normal, target);
  CHECK(t.gradients()[0] == doctest::Approx(-2e-29));
  t.backward(x, target);
  if (simd::flush_denormals::available) CHECK(t.gradients()[0] == 0);
  CHECK(product(-2e-9f, x[0]) != 0);
  t.gradients()[0] = 1e-39f;
  t.parameters()[0] = 0;
  t.rate = 1;
  t.update();
  if (simd::flush_denormals::available) CHECK(t.parameters()[0] == 0);
  CHECK(product(-2e-9f, x[0]) != 0);
}
