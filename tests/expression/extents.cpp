// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents follow from the indices; what does not agree is recorded.
#include <ago/expression/notation.hpp>

#include <doctest/doctest.h>

using namespace ago::expression;

namespace {

/// The result's extents of y(p) = x(index(p)).
template <class F>
constexpr int extent_of(F const& index, int extent) {
  auto const op = compute("read", [=](operand x) {
    var p;
    return result(p) = x(index(p));
  });
  definition const d = op(extents(extent));
  return d.bad.what == fault::none ? d.result()[0] : -int(d.bad.what);
}

}  // namespace

TEST_CASE("a variable has the largest extent that stays inside") {
  static_assert(extent_of([](auto& p) -> affine { return p; }, 7) == 7);
  static_assert(extent_of([](auto& p) { return p + 2; }, 7) == 5);
  static_assert(extent_of([](auto& p) { return 2 * p; }, 7) == 4);
  static_assert(extent_of([](auto& p) { return 3 * p + 1; }, 7) == 2);
  static_assert(extent_of([](auto& p) { return 6 - p; }, 7) == 7);
  static_assert(extent_of([](auto& p) { return 5 - 2 * p; }, 7) == 3);
  static_assert(extent_of([](auto& p) { return p / 3; }, 7) == 21);
  static_assert(extent_of([](auto& p) { return (p + 2) / 3; }, 7) == 19);
  static_assert(extent_of([](auto& p) { return 2 * (p / 3) + 1; }, 7) == 9);
  static_assert(extent_of([](auto& p) { return p / 2 / 3; }, 7) == 42);
  static_assert(extent_of([](auto& p) { return p % 3; }, 7) == -int(fault::extent_unknown));
  static_assert(extent_of([](auto& p) { return p + 7; }, 7) == -int(fault::reads_outside));
  static_assert(extent_of([](auto& p) { return p - 1; }, 7) == -int(fault::reads_outside));
  static_assert(extent_of([](auto& p) { return -p; }, 7) == 1);
}

TEST_CASE("variables are found in rounds, the smallest range of a round wins") {
  static constexpr auto stencil = compute("stencil", [](operand x) {
    var i;
    return result(i) = x(2 * i) + x(2 * i + 1);
  });
  static_assert(stencil(extents(7)).result() == extents(3));
  static constexpr auto convolution = compute("convolution", [](operand x, operand w) {
    var p, r;
    return result(p) = sum(r)(x(2 * p + 3 * r) * w(r));
  });
  static_assert(convolution(extents(12), extents(3)).result() == extents(3));
  static constexpr auto chain = compute("chain", [](operand x, operand y, operand z) {
    var i, j, k;
    return result(i, j, k) = x(i) * y(i + j) * z(i + j + k);
  });
  static_assert(chain(extents(2), extents(5), extents(9)).result() == extents(2, 4, 5));
}

TEST_CASE("quotients that are not largest together leave room for more") {
  static constexpr auto correlated = compute("correlated", [](operand x) {
    var i, j{3};
    return result(i, j) = x((2 * i + j) / 4 + j % 2);
  });
  static_assert(correlated(extents(3)).result() == extents(4, 3));  // bounds alone would give 3
}

TEST_CASE("parameters are as large as their indices reach") {
  static constexpr auto linear = compute("linear", [](operand x, weights parameter) {
    operand const w = parameter("weight"), b = parameter("bias");
    var n, k{5}, c;
    return result(n, k) = sum(c)(x(n, c) * w(k + 1, c)) + b(k);
  });
  constexpr definition d = linear(extents(3, 4));
  static_assert(d.bad.what == fault::none);
  static_assert(d.values[1].extents == extents(6, 4) && d.values[2].extents == extents(5));
  static_assert(d.values[1].name == name("weight") && d.values[1].role == value_role::parameter);
}

TEST_CASE("correlated quotients are checked element by element") {
  static constexpr auto same = compute("same", [](operand x) {
    var i{5};
    return result(i) = x(2 * (i / 2) + i % 2);  // bounds alone would give 5 as the last index
  });
  static_assert(same(extents(5)).bad.what == fault::none);
  static_assert(same(extents(4)).bad.what == fault::reads_outside);
}

TEST_CASE("a quotient of a quotient is one, a remainder of a remainder, too") {
  static constexpr auto nested = compute("nested", [](operand x) {
    var i{24};
    return result(i) = x(i % 12 / 3, i % 12 % 3, i / 12);
  });
  constexpr definition d = nested(extents(4, 3, 2));
  static_assert(d.bad.what == fault::none);
  constexpr quotient first = d.expressions[0].body.quotients[0];
  static_assert(first.divisor == 3 && first.modulus == 4);
  static constexpr auto uneven = compute("uneven", [](operand x) {
    var i{24};
    return result(i) = x(i % 12 / 5);
  });
  static_assert(uneven(extents(9)).bad.what == fault::index_too_complex);
}

TEST_CASE("negative numbers are divided by rounding down, with remainders that are not negative") {
  static_assert(floor_quotient(-1, 3) == -1 && floor_quotient(-3, 3) == -1 && floor_quotient(-4, 3) == -2);
  static_assert(floor_quotient(5, 3) == 1 && floor_remainder(-1, 3) == 2 && floor_remainder(-3, 3) == 0);
}

TEST_CASE("the first fault has operand, dimension, line and numbers") {
  static constexpr auto product_of = compute("product", [](operand a, operand b) {
    var i, j, k;
    return result(i, j) = sum(k)(a(i, k) * b(k, j));
  });
  constexpr diagnostic bad = product_of(extents(2, 3), extents(4, 5)).bad;
  static_assert(bad.what == fault::extents_differ && bad.expression == 0 && bad.operand == 1 && bad.dimension == 0);
  static_assert(bad.line == __LINE__ - 4 && bad.expected == 3 && bad.actual == 4);
  static constexpr auto two = compute("two", [](operand x) {
    var i, j, k;
    operand const y = result(i, j) = x(i, j) * 2;
    return result(i) = sum(j, k)(y(i, j, k));
  });
  constexpr diagnostic second = two(extents(2, 3)).bad;
  static_assert(second.what == fault::rank_differs && second.expression == 1 && second.operand == 1);
  static_assert(second.line == __LINE__ - 4 && second.expected == 2 && second.actual == 3);
  static_assert(two(extents(1 << 16, 1 << 16)).bad.what == fault::too_large);
}

TEST_CASE("a variable is folded once on every path") {
  static constexpr auto twice = compute("twice", [](operand x) {
    var i, k;
    return result(i) = sum(k)(x(i, k) * maximum(k)(x(i, k)));
  });
  static_assert(twice(extents(2, 3)).bad.what == fault::variable_reduced_twice);
  static constexpr auto beside = compute("beside", [](operand x) {
    var i, k;
    return result(i) = sum(k)(x(i, k)) * maximum(k)(x(i, k));
  });
  static_assert(beside(extents(2, 3)).bad.what == fault::none);
}
