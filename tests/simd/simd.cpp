// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define AGO_TEST_ALL 1
#include <ago/simd/math.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::simd;

namespace {

template <isa I>
std::vector<float> lanes_of(vec<I> x) {
  std::vector<float> v(std::size_t(lanes(I)));
  x.store(v.data());
  return v;
}

/// Distance in units in the last place of the float nearest to `exact`.
double ulps(float x, double exact) {
  float const near = std::fabs(static_cast<float>(exact));
  return std::fabs(double(x) - exact) / (double(std::nextafter(near, INFINITY)) - double(near));
}

/// Largest error of `f` relative to `exact`, over floats of all magnitudes up to `limit` and evenly spaced ones.
template <isa I, class F, class G>
double worst(float low, float high, F f, G exact) {
  test::numbers r(1);
  double most = 0;
  for (int i = 0; i < 60000; i += lanes(I)) {
    std::vector<float> x(std::size_t(lanes(I)));
    for (float& value : x) {
      value = r.real(low, high);
      if (i % 2 && low < 0) value = std::ldexp(value, -r.integer(0, 60));
    }
    auto const y = lanes_of<I>(f(vec<I>::load(x.data())));
    for (std::size_t k = 0; k < x.size(); ++k) {
      double const e = ulps(y[k], exact(double(x[k])));
      if (!(e <= most)) most = e;
    }
  }
  return most;
}

}  // namespace

TEST_CASE("a partial load reads only the first lanes, and a partial store writes only these") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(1);
    for (int n = 1; n < lanes(I); ++n) {
      test::guarded in(static_cast<std::size_t>(n)), out(static_cast<std::size_t>(n));
      r.fill(in.data(), in.size());
      vec<I> const x = vec<I>::load(in.data(), n);
      auto const all = lanes_of<I>(x);
      x.store(out.data(), n);
      test::guarded wide(std::size_t(lanes(I)));
      x.store(wide.data(), n);
      CAPTURE(n);
      for (int i = 0; i < lanes(I); ++i) {
        std::size_t const k = std::size_t(i);
        CHECK(all[k] == (i < n ? in[k] : 0.f));
        CHECK(wide[k] == (i < n ? in[k] : test::guarded::canary));
        if (i < n) CHECK(out[k] == in[k]);
      }
    }
  });
}

TEST_CASE("arithmetic works lane by lane") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(2);
    auto const a = r.vector(16), b = r.vector(16), c = r.vector(16);
    vec<I> const x = vec<I>::load(a.data()), y = vec<I>::load(b.data()), z = vec<I>::load(c.data());
    auto const sum = lanes_of<I>(x + y), difference = lanes_of<I>(x - y), product = lanes_of<I>(x * y),
               ratio = lanes_of<I>(x / y), minus = lanes_of<I>(-x), least = lanes_of<I>(min(x, y)),
               most = lanes_of<I>(max(x, y)), size = lanes_of<I>(abs(x)), root = lanes_of<I>(sqrt(abs(x))),
               fused = lanes_of<I>(fma(x, y, z)), chosen = lanes_of<I>(where_less(x, y, z, x));
    for (std::size_t i = 0; i < std::size_t(lanes(I)); ++i) {
      CHECK(sum[i] == a[i] + b[i]);
      CHECK(difference[i] == a[i] - b[i]);
      CHECK(product[i] == a[i] * b[i]);
      CHECK(ratio[i] == a[i] / b[i]);
      CHECK(minus[i] == -a[i]);
      CHECK(least[i] == std::fmin(a[i], b[i]));
      CHECK(most[i] == std::fmax(a[i], b[i]));
      CHECK(size[i] == std::fabs(a[i]));
      CHECK(root[i] == std::sqrt(std::fabs(a[i])));
      CHECK(chosen[i] == (a[i] < b[i] ? c[i] : a[i]));
      if (I == isa::avx2 || I == isa::avx512 || I == isa::neon || is_emulated(I))
        CHECK(fused[i] == std::fma(a[i], b[i], c[i]));
      else CHECK(fused[i] == doctest::Approx(double(a[i]) * double(b[i]) + double(c[i])).epsilon(1e-6));
    }
  });
}

TEST_CASE("comparisons choose lane by lane, and do not hold for NaN") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    float const some[] = {-INFINITY, -1, -0.f, 0, 1e-40f, 1, INFINITY, NAN};
    for (float const b : some) {
      float left[16], right[16];
      for (int i = 0; i < 16; ++i) left[i] = some[i % 8], right[i] = b;
      vec<I> const x = vec<I>::load(left), y = vec<I>::load(right), yes(1.f), no(2.f);
      auto const less = lanes_of<I>(where_less(x, y, yes, no)), at_most = lanes_of<I>(where_less_equal(x, y, yes, no)),
                 equal = lanes_of<I>(where_equal(x, y, yes, no)), undefined = lanes_of<I>(where_nan(x, yes, no));
      for (std::size_t i = 0; i < std::size_t(lanes(I)); ++i) {
        CAPTURE(left[i]);
        CAPTURE(b);
        CHECK(less[i] == (left[i] < b ? 1.f : 2.f));
        CHECK(at_most[i] == (left[i] <= b ? 1.f : 2.f));
        CHECK(equal[i] == (left[i] == b ? 1.f : 2.f));
        CHECK(undefined[i] == (std::isnan(left[i]) ? 1.f : 2.f));
      }
    }
  });
}

TEST_CASE("a multiply-add takes one lane of a register if the instruction set can") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    if constexpr (has_lane_fma(I)) {
      test::numbers r(3);
      auto const a = r.vector(4), b = r.vector(4), c = r.vector(4);
      vec<I> const w = vec<I>::load(a.data()), x = vec<I>::load(b.data()), sum = vec<I>::load(c.data());
      auto const first = lanes_of<I>(fma_lane<0>(w, x, sum)), last = lanes_of<I>(fma_lane<3>(w, x, sum));
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(first[i] == std::fma(a[i], b[0], c[i]));
        CHECK(last[i] == std::fma(a[i], b[3], c[i]));
      }
    }
  });
}

TEST_CASE("min and max return a NaN in their second operand") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    vec<I> const nan(NAN), one(1.f);
    CHECK(std::isnan(lanes_of<I>(max(one, nan))[0]));
    CHECK(std::isnan(lanes_of<I>(min(one, nan))[0]));
  });
}

TEST_CASE("the functions are as accurate as documented") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    CHECK(worst<I>(-87, 88, [](vec<I> x) { return exp(x); }, [](double x) { return std::exp(x); }) < 2);
    CHECK(worst<I>(1e-30f, 1e30f, [](vec<I> x) { return log(x); }, [](double x) { return std::log(x); }) < 2);
    CHECK(worst<I>(-20, 20, [](vec<I> x) { return tanh(x); }, [](double x) { return std::tanh(x); }) < 3);
    CHECK(worst<I>(-6, 6, [](vec<I> x) { return erf(x); }, [](double x) { return std::erf(x); }) < 3);
    CHECK(worst<I>(-87, 87, [](vec<I> x) { return logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }) < 4);
    CHECK(worst<I>(-80, 80, [](vec<I> x) { return expm1(x); }, [](double x) { return std::expm1(x); }) < 3);
    CHECK(worst<I>(-1, 1, [](vec<I> x) { return expm1(x); }, [](double x) { return std::expm1(x); }) < 2);
    CHECK(worst<I>(-.99f, 100, [](vec<I> x) { return log1p(x); }, [](double x) { return std::log1p(x); }) < 2);
    CHECK(worst<I>(0, 1e9f, [](vec<I> x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }) <= .5);
    for (float const limit : {1.f, 1e6f})
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return atan(x); }, [](double x) { return std::atan(x); }) < 3);
    for (float const limit : {10.f, 10'000.f}) {
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return sin(x); }, [](double x) { return std::sin(x); }) < 2);
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return cos(x); }, [](double x) { return std::cos(x); }) < 2);
    }
  });
}

TEST_CASE("numbers are rounded down, up, and to the nearest") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (float const limit : {4.f, 1e6f, 1e8f, 1e30f}) {
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return floor(x); }, [](double x) { return std::floor(x); }) == 0);
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return ceil(x); }, [](double x) { return std::ceil(x); }) == 0);
      auto const nearest = [](double x) { return std::nearbyint(x); };
      CHECK(worst<I>(-limit, limit, [](vec<I> x) { return round_to_even(x); }, nearest) == 0);
    }
    for (float const half : {-2.5f, -1.5f, -.5f, .5f, 1.5f, 2.5f, 8388607.5f})
      CHECK(lanes_of<I>(round_to_even(vec<I>(half)))[0] == std::nearbyint(half));
  });
}

TEST_CASE("powers are as accurate as documented, and have the signs and limits of real numbers") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    auto const of = [](float a, float b) { return lanes_of<I>(power(vec<I>(a), vec<I>(b)))[0]; };
    test::numbers r(9);
    for (int i = 0; i < 4000; ++i) {
      float const a = r.real(1e-2f, 40), sign = i % 4 ? 1.f : -1.f;
      float const b = i % 2 ? r.real(-15, 15) : float(r.integer(-9, 9));
      double const exact = std::pow(double(i % 2 ? a : sign * a), double(b));
      CAPTURE(a);
      CAPTURE(b);
      CHECK(ulps(of(i % 2 ? a : sign * a, b), exact) <= 4 + 2 * std::fabs(double(b) * std::log(double(a))));
    }
    for (float const a : {0.f, -0.f, 1.f, -3.f, INFINITY}) CHECK(of(a, 0) == 1);
    CHECK(of(0, 2) == 0);
    CHECK(of(0, .5f) == 0);
    CHECK(of(0, -1) == INFINITY);
    CHECK(of(2, INFINITY) == INFINITY);
    CHECK(of(2, -INFINITY) == 0);
    CHECK(std::isnan(of(-2, .5f)));
    CHECK(std::isnan(of(NAN, 2)));
  });
}

TEST_CASE("exp and logistic saturate without NaN") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    auto const of = [](vec<I> x) { return lanes_of<I>(x)[0]; };
    for (float x : {89.f, 1000.f, 3e38f, INFINITY}) {
      CHECK(of(exp(vec<I>(x))) == INFINITY);
      CHECK(of(exp(vec<I>(-x - 15.f))) == 0.f);
      CHECK(of(logistic(vec<I>(x))) == 1.f);
      CHECK(of(logistic(vec<I>(-x))) < 1e-37f);
      CHECK(of(logistic(vec<I>(-x))) >= 0.f);
    }
    CHECK(std::isnan(of(logistic(vec<I>(NAN)))));
  });
}

TEST_CASE("the exponential of negative numbers is accurate down to its limit, and 0 beyond") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    auto const exponential = [](vec<I> x) { return simd::exp_of_negative(x); };
    CHECK(worst<I>(-87.3f, 0, exponential, [](double x) { return std::exp(x); }) < 3);
    CHECK(worst<I>(-2, 0, exponential, [](double x) { return std::exp(x); }) < 3);
    auto const of = [&](float x) { return lanes_of<I>(exponential(vec<I>(x)))[0]; };
    CHECK(of(0.f) == 1.f);
    CHECK(of(-0.f) == 1.f);
    CHECK(of(-1e-30f) == 1.f);
    for (float x = -87.3f; x > -89; x -= .001f) CHECK(std::fabs(of(x) - std::exp(x)) < 2e-38f);
    for (float x : {-87.7f, -88.f, -104.f, -1e5f, -3e38f, -INFINITY}) CHECK(of(x) == 0.f);
    CHECK(std::isnan(of(NAN)));
  });
}

TEST_CASE("powers of 2 of negative numbers are accurate down to the smallest normal number, and 0 beyond") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    auto const power = [](vec<I> x) { return simd::exp2_of_negative(x); };
    CHECK(worst<I>(-126, 0, power, [](double x) { return std::exp2(x); }) < 3);
    CHECK(worst<I>(-2, 0, power, [](double x) { return std::exp2(x); }) < 3);
    auto const of = [&](float x) { return lanes_of<I>(power(vec<I>(x)))[0]; };
    for (int n = 0; n <= 126; ++n) CHECK(of(float(-n)) == std::ldexp(1.f, -n));
    CHECK(of(-0.f) == 1.f);
    CHECK(of(-1e-30f) == 1.f);
    for (float x = -126; x > -128; x -= .001f) CHECK(std::fabs(of(x) - std::exp2(x)) <= 0x1p-126f);
    for (float x : {-127.f, -127.5f, -150.f, -1e5f, -3e38f, -INFINITY}) CHECK(of(x) == 0.f);
    CHECK(std::isnan(of(NAN)));
  });
}
