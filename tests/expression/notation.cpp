// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of docs/expressions.md compute what their loops, written by hand, compute.
#include <ago/expression/check.hpp>

#include <doctest/doctest.h>

#include <cmath>

#include "operators.hpp"
#include "run.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

using operators::capsule_convolution;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

inline constexpr definition capsules = capsule_convolution(3, 3, 2)(extents(2, 2, 7, 9, 4, 5));
inline constexpr definition product_2x3 = operators::matrix_product(extents(2, 3), extents(3, 2));
inline constexpr definition softmax_2x3 = operators::softmax(extents(2, 3));
inline constexpr definition to_space = operators::depth2space(2)(extents(1, 2, 3, 8));
inline constexpr definition dilated = operators::dilated_convolution(2, 3, 2, 2)(extents(1, 5, 6, 3));
inline constexpr definition outer = operators::outer_product(extents(2), extents(3));
inline constexpr definition cell = operators::sub_lstm_cell(extents(2, 3), extents(2, 5), extents(2, 5));
inline constexpr definition rows = operators::lookup(extents(5), extents(4, 2));
static_assert(check<capsules>::ok && check<product_2x3>::ok && check<softmax_2x3>::ok && check<to_space>::ok);
static_assert(check<dilated>::ok && check<outer>::ok && check<cell>::ok && check<rows>::ok);

/// An expression is a template argument.
template <index_expression E>
struct key {
  static constexpr int loops = E.axis_count;
};
static_assert(key<capsules.expressions[0]>::loops == 10 && key<outer.expressions[0]>::loops == 2);

constexpr bool multiplies_at_compile_time() {
  double const a[]{1, 2, 3, 4, 5, 6}, b[]{1, 0, 0, 1, 1, 1};
  double c[4]{}, space[4]{};
  double const* const given[]{a, b};
  double* const results[]{c};
  evaluate(product_2x3, given, results, space);
  return c[0] == 4 && c[1] == 5 && c[2] == 10 && c[3] == 11;
}
static_assert(multiplies_at_compile_time());

}  // namespace

TEST_CASE("a capsule convolution is its loops") {
  CHECK(capsules.result() == extents(2, 3, 3, 4, 4, 4));
  CHECK(capsules.values[1].extents == extents(3, 2, 3, 3, 5, 4));
  std::mt19937 random(1);
  auto const given = random_operands(capsules, random);
  auto const got = run(capsules, given)[0];
  std::size_t place = 0;
  for (int b = 0; b < 2; ++b)
    for (int k = 0; k < 3; ++k)
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 4; ++q)
          for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) {
              double sum = 0;
              for (int c = 0; c < 2; ++c)
                for (int r = 0; r < 3; ++r)
                  for (int s = 0; s < 3; ++s)
                    for (int l = 0; l < 5; ++l)
                      sum += given[0][at(((((b * 2 + c) * 7 + 2 * p + r) * 9 + 2 * q + s) * 4 + i) * 5 + l)] *
                             given[1][at(((((k * 2 + c) * 3 + r) * 3 + s) * 5 + l) * 4 + j)];
              REQUIRE(got[place++] == sum);
            }
  CHECK(place == got.size());
}

TEST_CASE("softmax is four expressions") {
  CHECK(softmax_2x3.expression_count == 4);
  values const x{1, 2, 3, -1, 0, 5};
  auto const got = run(softmax_2x3, {x})[0];
  for (int i = 0; i < 2; ++i) {
    double total = 0;
    for (int c = 0; c < 3; ++c) total += std::exp(x[at(3 * i + c)]);
    for (int c = 0; c < 3; ++c) CHECK(got[at(3 * i + c)] == doctest::Approx(std::exp(x[at(3 * i + c)]) / total));
  }
}

TEST_CASE("depth2space moves channels into squares of pixels") {
  CHECK(to_space.result() == extents(1, 4, 6, 2));
  std::mt19937 random(2);
  auto const given = random_operands(to_space, random);
  auto const got = run(to_space, given)[0];
  for (int h = 0; h < 2; ++h)
    for (int w = 0; w < 3; ++w)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x)
          for (int c = 0; c < 2; ++c)
            CHECK(got[at(((2 * h + y) * 6 + 2 * w + x) * 2 + c)] ==
                  given[0][at((h * 3 + w) * 8 + (2 * y + x) * 2 + c)]);
}

TEST_CASE("a dilated convolution reads zeros around the image") {
  CHECK(dilated.result() == extents(1, 5, 6, 2));
  CHECK(dilated.values[1].extents == extents(2, 3, 3, 3));
  std::mt19937 random(3);
  auto const given = random_operands(dilated, random);
  auto const got = run(dilated, given)[0];
  for (int h = 0; h < 5; ++h)
    for (int w = 0; w < 6; ++w)
      for (int k = 0; k < 2; ++k) {
        double sum = 0;
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s)
            for (int c = 0; c < 3; ++c) {
              int const y = h + 2 * r - 2, x = w + 2 * s - 2;
              if (y >= 0 && y < 5 && x >= 0 && x < 6)
                sum += given[0][at((y * 6 + x) * 3 + c)] * given[1][at(((k * 3 + r) * 3 + s) * 3 + c)];
            }
        CHECK(got[at((h * 6 + w) * 2 + k)] == sum);
      }
}

TEST_CASE("an outer product multiplies every pair") {
  CHECK(run(outer, {{2, 3}, {5, 7, 11}})[0] == values{10, 14, 22, 15, 21, 33});
}

TEST_CASE("a subLSTM's cell has two results") {
  CHECK(cell.result_count == 2);
  CHECK(cell.values[3].extents == extents(20, 3));
  CHECK(cell.values[4].extents == extents(20, 5));
  CHECK(cell.values[5].extents == extents(20));
  std::mt19937 random(4);
  auto const given = random_operands(cell, random);
  auto const got = run(cell, given);
  auto const logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (int n = 0; n < 2; ++n)
    for (int j = 0; j < 5; ++j) {
      double gate[4];
      for (int g = 0; g < 4; ++g) {
        int const row = 5 * g + j;
        double sum = given[5][at(row)];
        for (int i = 0; i < 3; ++i) sum += given[3][at(row * 3 + i)] * given[0][at(n * 3 + i)];
        for (int k = 0; k < 5; ++k) sum += given[4][at(row * 5 + k)] * given[1][at(n * 5 + k)];
        gate[g] = logistic(sum);
      }
      double const c = gate[2] * given[2][at(n * 5 + j)] + gate[0] - gate[1];
      CHECK(got[1][at(n * 5 + j)] == doctest::Approx(c));
      CHECK(got[0][at(n * 5 + j)] == doctest::Approx(logistic(c) - gate[3]));
    }
}

TEST_CASE("a lookup reads the row that another value names, or the nearest one") {
  values const table{0, 1, 10, 11, 20, 21, 30, 31};
  CHECK(run(rows, {{2, 0, 3, 7, -1}, table})[0] == values{20, 21, 0, 1, 30, 31, 30, 31, 0, 1});
  static constexpr auto zeros = compute("zeros", [](operand row, operand all) {
    var n, c;
    return result(n, c) = padded(all, -1)(row(n), c);
  });
  CHECK(run(zeros(extents(3), extents(4, 2)), {{1, 4, -1}, table})[0] == values{10, 11, -1, -1, -1, -1});
}

TEST_CASE("folds nest, and stand inside of other operations") {
  static constexpr auto in_one = compute("softmax_in_one", [](operand x) {
    var i, c, k, l;
    scalar const peak = maximum(k)(x(i, k));
    return result(i, c) = exp(x(i, c) - peak) / sum(l)(exp(x(i, l) - peak));
  });
  values const x{1, 2, 3, -1, 0, 5};
  auto const expected = run(softmax_2x3, {x})[0], got = run(in_one(extents(2, 3)), {x})[0];
  for (std::size_t i = 0; i < 6; ++i) CHECK(got[i] == doctest::Approx(expected[i]));
  static constexpr auto largest_row_product = compute("nested", [](operand a) {
    var i, j;
    return result() = maximum(i)(product(j)(a(i, j)));
  });
  CHECK(run(largest_row_product(extents(2, 3)), {{1, 2, 3, 2, 2, 2}})[0] == values{8});
  CHECK(largest_row_product(extents(2, 3)).result().rank == 0);
}

TEST_CASE("indices are compared, selected by, and numbers") {
  static constexpr auto lower_triangle = compute("tril", [](operand x) {
    var i, j;
    return result(i, j) = select(j <= i && i < 2, x(i, j), 0);
  });
  CHECK(run(lower_triangle(extents(3, 3)), {{1, 2, 3, 4, 5, 6, 7, 8, 9}})[0] == values{1, 0, 0, 4, 5, 0, 0, 0, 0});
  static constexpr auto running_sum = compute("cumsum", [](operand x) {
    var i{x.extent(0)}, j;
    return result(i) = sum(j)(select(j <= i, x(j), 0));
  });
  CHECK(run(running_sum(extents(4)), {{1, 2, 3, 4}})[0] == values{1, 3, 6, 10});
  static constexpr auto ramp = compute("ramp", [](operand x) {
    var i, j;
    return result(i, j) = x(i, j) + x.position(3 * i - j);
  });
  CHECK(run(ramp(extents(2, 2)), {{0, 0, 10, 10}})[0] == values{0, -1, 13, 12});
}

TEST_CASE("each operation computes what its name says") {
  static constexpr auto one = [](auto f) {
    return compute("f", [=](operand x) {
      var i;
      return result(i) = f(x(i));
    })(extents(3));
  };
  values const x{.25, 1.5, 2};
  auto const agrees = [&](auto f, auto g) {
    auto const got = run(one(f), {x})[0];
    for (std::size_t i = 0; i < 3; ++i) CHECK(got[i] == doctest::Approx(double(g(x[i]))));
  };
  agrees([](scalar a) { return exp(a); }, [](double a) { return std::exp(a); });
  agrees([](scalar a) { return expm1(a); }, [](double a) { return std::expm1(a); });
  agrees([](scalar a) { return log(a); }, [](double a) { return std::log(a); });
  agrees([](scalar a) { return log1p(a); }, [](double a) { return std::log1p(a); });
  agrees([](scalar a) { return sqrt(a); }, [](double a) { return std::sqrt(a); });
  agrees([](scalar a) { return rsqrt(a); }, [](double a) { return 1 / std::sqrt(a); });
  agrees([](scalar a) { return erf(a); }, [](double a) { return std::erf(a); });
  agrees([](scalar a) { return tanh(a); }, [](double a) { return std::tanh(a); });
  agrees([](scalar a) { return sigmoid(a); }, [](double a) { return 1 / (1 + std::exp(-a)); });
  agrees([](scalar a) { return sin(a) - cos(a); }, [](double a) { return std::sin(a) - std::cos(a); });
  agrees([](scalar a) { return floor(a) + 10 * ceil(a); }, [](double a) { return std::floor(a) + 10 * std::ceil(a); });
  agrees([](scalar a) { return round(a); }, [](double a) { return std::nearbyint(a); });
  agrees([](scalar a) { return abs(1 - a); }, [](double a) { return std::abs(1 - a); });
  agrees([](scalar a) { return pow(a, 3) / -a; }, [](double a) { return -a * a; });
  agrees([](scalar a) { return maximum(a, 1) - minimum(a, 1); }, [](double a) { return std::abs(a - 1); });
  agrees([](scalar a) { return (a < 1.5) + 10 * (a <= 1.5); }, [](double a) { return (a < 1.5) + 10 * (a <= 1.5); });
  agrees([](scalar a) { return (a > 1.5) + 10 * (a >= 1.5) + 100 * (a == 1.5); },
         [](double a) { return (a > 1.5) + 10 * (a >= 1.5) + 100 * (a == 1.5); });
  agrees([](scalar a) { return select(a == 2, 5, -a); }, [](double a) { return a == 2 ? 5 : -a; });
}

TEST_CASE("a helper function has variables of its own") {
  static constexpr auto squares = [](operand const& x, var& i) {
    var k{x.extent(1)};
    return sum(k)(x(i, k) * x(i, k));
  };
  static constexpr auto distance = compute("distance", [](operand a, operand b) {
    var i;
    return result(i) = squares(a, i) - squares(b, i);
  });
  constexpr definition d = distance(extents(2, 3), extents(2, 4));
  static_assert(d.bad.what == fault::none && d.expressions[0].axis_count == 3);
  std::vector<values> const given{{1, 2, 3, 1, 1, 1}, {1, 1, 1, 1, 0, 0, 0, 2}};
  CHECK(run(d, given)[0] == values{10, -1});
  CHECK(run(distance(extents(2, 3), extents(2, 4)), given)[0] == values{10, -1});  // traced at run time
}

TEST_CASE("a variable may serve several operators, one after the other") {
  var i;
  auto const twice = compute("twice", [&](operand x) { return result(i) = 2 * x(i); });
  CHECK(twice(extents(2)).result() == extents(2));
  CHECK(twice(extents(5)).result() == extents(5));
}

TEST_CASE("equal expressions are equal values, whatever their names, lines, and order of declaration") {
  static constexpr auto other = compute("other", [](operand left, operand right) {
    var depth, column, row;
    scalar const a = left(row, depth);
    return result(row, column) = sum(depth)(a * right(depth, column));
  });
  static_assert(other(extents(2, 3), extents(3, 2)).expressions[0] == product_2x3.expressions[0]);
  static_assert(!(other(extents(2, 4), extents(4, 2)).expressions[0] == product_2x3.expressions[0]));
  static constexpr auto square = compute("square", [](operand x) {
    var i;
    return result(i) = x(1 + i - 1) * x(i);
  });
  static_assert(square(extents(3)).expressions[0].body.access_count == 1);
}
