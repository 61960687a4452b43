// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/epilogue.hpp>
#include <ago/operators/activations.hpp>
#include <ago/simd/map.hpp>

#include "support.hpp"

#include <bit>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;
using namespace ago::simd;

namespace {

/// The definitions in double.
double definition(op kind, double x, double alpha, double beta) {
  auto const logistic = [](double v) { return v < 0 ? std::exp(v) / (1 + std::exp(v)) : 1 / (1 + std::exp(-v)); };
  switch (kind) {
    case op::relu: return std::fmax(x, 0);
    case op::relu6: return std::fmin(std::fmax(x, 0), 6);
    case op::leaky_relu: return x < 0 ? alpha * x : x;
    case op::clip: return std::fmin(std::fmax(x, alpha), beta);
    case op::hard_sigmoid: return std::fmin(std::fmax(x / 6 + .5, 0), 1);
    case op::hard_swish: return x * std::fmin(std::fmax(x / 6 + .5, 0), 1);
    case op::sigmoid: return logistic(x);
    case op::silu: return x * logistic(x);
    case op::gelu: return .5 * x * std::erfc(-x / std::sqrt(2.));
    case op::gelu_tanh: return x * logistic(2 * std::sqrt(2 / 3.14159265358979323846) * (x + .044715 * x * x * x));
    case op::tanh: return std::tanh(x);
    default: return x;
  }
}

/// The largest error that activate() documents.
double bound(op kind, double x, double exact) {
  double const size = std::fabs(exact), unit = std::fmax(size, 0x1p-126) * 0x1p-23;
  switch (kind) {
    case op::tanh: return 3 * unit;
    case op::sigmoid: return x > -87 ? 4 * unit : 2e-38;
    case op::hard_sigmoid: return 1e-7;
    case op::hard_swish:
    case op::silu:
    case op::gelu:
    case op::gelu_tanh: return 2e-7 * std::fmax(1, std::fabs(x));
    case op::leaky_relu: return unit;
    default: return 0;
  }
}

/// Floats of every kind: zeros, denormals, every magnitude up to the largest, and many where the functions are curved.
std::vector<float> samples() {
  test::numbers r(7);
  std::vector<float> v{0.f, -0.f, 1e-45f, -1e-45f, 1e-39f, -1e-39f, 3.4e38f, -3.4e38f,
                       3.f, -3.f, 6.f,    -6.f,    88.7f,  -88.7f,  -104.f};
  while (v.size() < 1 << 16) {
    v.push_back(std::ldexp(r.real(), r.integer(-130, 128)));
    v.push_back(r.real(-10, 10));
    v.push_back(r.real(-120, 120));
  }
  while (v.size() % 16) v.push_back(1.f);
  return v;
}

/// Every 2003rd float in -8 ... 8, and some of every larger magnitude.
std::vector<float> even_samples() {
  std::vector<float> v;
  auto const add = [&](float low, float high, std::uint32_t step) {
    for (auto bits = std::bit_cast<std::uint32_t>(low); bits <= std::bit_cast<std::uint32_t>(high); bits += step)
      for (float const sign : {1.f, -1.f}) v.push_back(sign * std::bit_cast<float>(bits));
  };
  add(0x1p-20f, 8.f, 2003);
  add(0.f, 3.4e38f, 200003);
  while (v.size() % 16) v.push_back(1.f);
  return v;
}

template <op K, isa I>
void check_activation(std::vector<float> const& x) {
  constexpr float alpha = K == op::leaky_relu ? 0.01f : -1.5f, beta = 2.5f;
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); i += std::size_t(lanes(I)))
    kernel::activate<K, I>(vec<I>::load(&x[i]), alpha, beta, 0).store(&y[i]);
  CAPTURE(name_of(K));
  int wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const exact = definition(K, double(x[i]), double(alpha), double(beta));
    if (std::fabs(double(y[i]) - exact) <= bound(K, double(x[i]), exact)) continue;
    if (wrong++ == 0) first = std::to_string(double(x[i])) + " gives " + std::to_string(double(y[i]));
  }
  CAPTURE(first);
  CHECK(wrong == 0);
  float lane[16];
  kernel::activate<K, I>(vec<I>(NAN), alpha, beta, 0).store(lane);
  CHECK(std::isnan(lane[0]));
}

template <isa I, op... K>
void check_activations(std::vector<float> const& x) {
  (check_activation<K, I>(x), ...);
}

/// Compares a function of the library, with numbers `alpha` and `beta`, with its definition, within `relative` units in
/// the last place and `absolute`. Results beyond the range of float32 may be anything.
template <auto const& Function, isa I>
void check_function(std::vector<float> const& x, float alpha, float beta, double (*exact)(double, double, double),
                    double relative, double absolute = 0) {
  using F = std::remove_cvref_t<decltype(Function)>;
  int wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < x.size(); i += std::size_t(lanes(I))) {
    vec<I> v = vec<I>::load(&x[i]);
    user_code<F>::apply(I, &v, alpha, beta);
    float lane[16];
    v.store(lane);
    for (std::size_t k = 0; k < std::size_t(lanes(I)); ++k) {
      double const e = exact(double(x[i + k]), double(alpha), double(beta));
      double const bound = relative * 0x1p-23 * std::fmax(std::fabs(e), 0x1p-126) + absolute;
      if (std::fabs(double(lane[k]) - e) <= bound || (std::isnan(e) && std::isnan(lane[k])) || double(lane[k]) == e ||
          std::fabs(e) > 3.4e38)
        continue;
      if (wrong++ == 0) first = std::to_string(double(x[i + k])) + " gives " + std::to_string(double(lane[k]));
    }
  }
  CAPTURE(first);
  CHECK(wrong == 0);
}

constexpr auto twice_plus_one = [](auto x) { return x + x + decltype(x)(1.f); };

constexpr epilogue chain() {
  epilogue e;
  e.stages[0].kind = op::bias;
  e.stages[1].kind = op::add;
  e.stages[2] = {op::map, &user_map<std::remove_const_t<decltype(twice_plus_one)>>};
  e.stages[3].kind = op::batch_norm;
  e.stages[4].kind = op::clip;
  e.stages[5].kind = op::mul;
  return e;
}

}  // namespace

TEST_CASE("activations keep their error bounds over the whole range of floats") {
  auto const x = samples();
  test::for_each_isa([&]<isa I>(std::integral_constant<isa, I>) {
    using enum op;
    check_activations<I, relu, relu6, leaky_relu, clip, hard_sigmoid, hard_swish, op::sigmoid, silu, gelu, gelu_tanh,
                      op::tanh>(x);
  });
}

TEST_CASE("activations keep their error bounds where they are curved, and at every magnitude") {
  auto const x = even_samples();
  test::for_each_isa(
      [&]<isa I>(std::integral_constant<isa, I>) { check_activations<I, op::silu, op::gelu, op::gelu_tanh>(x); });
}

TEST_CASE("activations that are functions of the library keep their error bounds over the whole range of floats") {
  auto const x = samples();
  using std::exp, std::expm1, std::log1p, std::fabs, std::fmax, std::fmin;
  using d = double;
  test::for_each_isa([&]<isa I>(std::integral_constant<isa, I>) {
    check_function<ago::ir::elu_function, I>(
        x, .5f, 2.f, [](d v, d a, d b) { return (v < 0 ? a * expm1(v) : v) * b; }, 4);
    check_function<ago::ir::celu_function, I>(
        x, .25f, 0, [](d v, d a, d) { return v < 0 ? a * expm1(v / a) : v; }, 4, 1e-37);
    check_function<ago::ir::softplus_function, I>(
        x, 0, 0, [](d v, d, d) { return fmax(v, 0) + log1p(exp(-fabs(v))); }, 4, 1e-37);
    check_function<ago::ir::mish_function, I>(
        x, 0, 0, [](d v, d, d) { return v * std::tanh(fmax(v, 0) + log1p(exp(-fabs(v)))); }, 8, 1e-35);
    check_function<ago::ir::softsign_function, I>(x, 0, 0, [](d v, d, d) { return v / (1 + fabs(v)); }, 2);
    check_function<ago::ir::affine_sigmoid_function, I>(
        x, .2f, .5f, [](d v, d a, d b) { return fmin(1, fmax(0, a * v + b)); }, 0, 2e-7);
    check_function<ago::ir::threshold_function, I>(x, 1.5f, -2.f, [](d v, d a, d b) { return v > a ? v : b; }, 0);
    check_function<ago::ir::shrink_function, I>(
        x, 1.5f, .5f, [](d v, d a, d b) { return v < -a  ? v + b
                                                 : v > a ? v - b
                                                         : 0; }, 1);
    check_function<ago::ir::affine_function, I>(x, -2.f, 8.f, [](d v, d a, d b) { return a * v + b; }, 2, 1e-5);
    check_function<ago::ir::inverse_root, I>(x, 0, 0, [](d v, d, d) { return 1 / std::sqrt(v); }, 2);
    check_function<ago::ir::inverse, I>(x, 0, 0, [](d v, d, d) { return 1 / v; }, 1);
    check_function<ago::ir::negated, I>(x, 0, 0, [](d v, d, d) { return -v; }, 0);
    check_function<ago::ir::absolute_value, I>(x, 0, 0, [](d v, d, d) { return fabs(v); }, 0);
  });
}

TEST_CASE("activations have their limits at infinity") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    auto const at = []<op K>(std::integral_constant<op, K>, float x) {
      float lane[16];
      kernel::activate<K, I>(vec<I>(x), 0, 0, 0).store(lane);
      return lane[0];
    };
    CHECK(at(std::integral_constant<op, op::relu>{}, INFINITY) == INFINITY);
    CHECK(at(std::integral_constant<op, op::relu>{}, -INFINITY) == 0);
    CHECK(at(std::integral_constant<op, op::relu6>{}, INFINITY) == 6);
    CHECK(at(std::integral_constant<op, op::hard_sigmoid>{}, -INFINITY) == 0);
    CHECK(at(std::integral_constant<op, op::hard_swish>{}, INFINITY) == INFINITY);
    CHECK(at(std::integral_constant<op, op::silu>{}, INFINITY) == INFINITY);
    CHECK(at(std::integral_constant<op, op::gelu>{}, INFINITY) == INFINITY);
    CHECK(at(std::integral_constant<op, op::gelu_tanh>{}, INFINITY) == INFINITY);
    CHECK(at(std::integral_constant<op, op::sigmoid>{}, -INFINITY) < 2e-38f);
    CHECK(std::fabs(at(std::integral_constant<op, op::silu>{}, -INFINITY)) < 1e-35f);
    CHECK(std::fabs(at(std::integral_constant<op, op::gelu_tanh>{}, -INFINITY)) < 1e-35f);
    CHECK(std::fabs(at(std::integral_constant<op, op::gelu>{}, -INFINITY)) < 2e-7f);
    CHECK(at(std::integral_constant<op, op::tanh>{}, -INFINITY) == -1);
  });
}

TEST_CASE("NaN, infinities and signed zeros give the results of C and PyTorch") {
  auto const same = [](float got, float exact) {
    return (std::isnan(got) && std::isnan(exact)) ||
           (std::signbit(got) == std::signbit(exact) &&
            (got == exact || std::fabs(got - exact) < 1e-5f * std::fabs(exact) + 1e-37f));
  };
  test::for_each_isa([&]<isa I>(std::integral_constant<isa, I>) {
    using v = vec<I>;
    auto const first = [](v x) {
      float lane[16];
      x.store(lane);
      return lane[0];
    };
    float const special[] = {NAN, -0.f, 0.f, INFINITY, -INFINITY, 1.f, -1.f, .5f, -2.5f, 3.f, -2.f, 1e-40f, 2e38f};
    for (float const x : special) {
      CAPTURE(x);
      CHECK(same(first(ir::threshold_function(v(x), v(0.f), v(7.f))), x <= 0 ? 7 : x));
      CHECK(same(first(ir::elu_function(v(x), v(2.f), v(1.f))), x < 0 ? 2 * std::expm1(x) : x));
      CHECK(same(first(ir::negated(v(x))), -x));
      CHECK(same(first(ir::absolute_value(v(x))), std::fabs(x)));
      if (!(x < 0)) CHECK(same(first(ir::root(v(x))), std::sqrt(x)));
      CHECK(same(first(ir::inverse(v(x))), 1 / x));
      CHECK(same(first(floor(v(x))), std::floor(x)));
      CHECK(same(first(ceil(v(x))), std::ceil(x)));
      CHECK(same(first(round_to_even(v(x))), std::nearbyint(x)));
      CHECK(same(first(exp(v(x))), std::exp(x)));
      CHECK(same(first(ir::softsign_function(v(x))), x / (1 + std::fabs(x))));
      for (float const y : special) {
        CAPTURE(y);
        bool const nan = std::isnan(x) || std::isnan(y);
        CHECK(same(first(ir::power_function(v(x), v(y))), std::pow(x, y)));
        CHECK(same(std::fabs(first(kernel::combine<op::maximum, I>(x, y))), nan ? NAN : std::fabs(std::fmax(x, y))));
        CHECK(same(std::fabs(first(kernel::combine<op::minimum, I>(x, y))), nan ? NAN : std::fabs(std::fmin(x, y))));
        CHECK(first(kernel::combine<op::less, I>(x, y)) == (x < y ? 1 : 0));
      }
    }
  });
}

TEST_CASE("stages run in order, each with its own parameters, operands and channels") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr epilogue e = chain();
    constexpr int V = lanes(I), channels = 2 * V + (V > 1 ? V - 1 : 0), pixels = 3;
    constexpr int whole = (channels + V - 1) / V * V;
    test::numbers r(11);
    planned_data s;
    s.out = {2, 1, pixels, channels};
    test::aligned packed(static_cast<std::size_t>(3 * whole));  // bias, scale, shift
    r.fill(packed.data(), static_cast<std::size_t>(3 * whole));
    test::guarded x(std::size_t(s.out.count())), added(test::extent(s.out, channels + 3)),
        factor(std::size_t(2 * channels)), y(x.size());
    r.fill(x.data(), x.size());
    r.fill(added.data(), added.size());
    r.fill(factor.data(), factor.size());
    s.after[0].parameters = 0;
    s.after[1].operand = {place::area::input, 0, 0, channels + 3};
    s.after[3].parameters = whole;
    s.after[4].alpha = -1.f;
    s.after[4].beta = 1.5f;
    s.after[5].operand = {place::area::input, 1, 0, 0};  // one pixel per image
    s.after[5].image_step = channels;
    float const* inputs[] = {added.data(), factor.data()};
    kernel_memory const m{{packed.data(), nullptr, inputs, nullptr}, s.tables()};
    finisher<e, I> finish(s, m);
    for (int n = 0; n < 2; ++n) {
      finish.image(s, m, n);
      for (long p = n * pixels; p < (n + 1) * pixels; ++p)
        for (int c = 0; c < channels; c += V) {
          float* const to = y.data() + p * channels + c;
          float const* const from = x.data() + p * channels + c;
          int const count = channels - c < V ? channels - c : V;
          if (count == V) finish(vec<I>::load(from), p, c).store(to);
          else finish(vec<I>::load(from, count), p, c, count).store(to, count);
        }
    }
    bool good = true;
    for (int p = 0; p < 2 * pixels; ++p)
      for (int c = 0; c < channels; ++c) {
        auto const parameter = [&](int row) { return double(packed.data()[row * whole + c]); };
        double v = double(x[std::size_t(p * channels + c)]) + parameter(0) +
                   double(added[std::size_t(p * (channels + 3) + c)]);
        v = (2 * v + 1) * parameter(1) + parameter(2);
        v = std::fmin(std::fmax(v, -1), 1.5) * double(factor[std::size_t(p / pixels * channels + c)]);
        good = good && std::fabs(v - double(y[std::size_t(p * channels + c)])) < 2e-6;
      }
    CHECK(good);
  });
}
