// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds become expressions of their own, and operators keep their values.
#include <ago/expression/fold_pair.hpp>
#include <ago/expression/matrix_form.hpp>
#include <ago/expression/split_folds.hpp>

#include <doctest/doctest.h>

#include "generator.hpp"
#include "operators.hpp"
#include "run.hpp"
#include "support/rounds.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

/// Folds of an expression but its root.
int inner_folds(index_expression const& e) {
  int r = 0;
  for (int n = 0; n < e.root(); ++n) r += is_fold(e.body.nodes[n].kind);
  return r;
}

void check_values(definition const& before, definition const& after, unsigned seed) {
  std::mt19937 random(seed);
  auto const given = random_operands(before, random);
  auto const expected = run(before, given), got = run(after, given);
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    REQUIRE(got[k].size() == expected[k].size());
    for (std::size_t i = 0; i < got[k].size(); ++i)
      if (std::isfinite(expected[k][i])) REQUIRE(got[k][i] == doctest::Approx(expected[k][i]).epsilon(1e-6));
  }
}

constexpr auto mean = compute("mean", [](operand x) {
  var n, c;
  return result(n) = sum(c)(x(n, c)) / x.extent(1);
});
constexpr auto sum_of_differences = compute("sum_of_differences", [](operand x, operand y) {
  var n, c;
  return result(n) = sum(c)(x(n, c) - y(n, c));
});
constexpr auto softmax_at_once = compute("softmax", [](operand x) {
  var n, c, k, l, m;
  return result(n, c) = exp(x(n, c) - maximum(k)(x(n, k))) / sum(l)(exp(x(n, l) - maximum(m)(x(n, m))));
});
constexpr auto standardised = compute("standardised", [](operand x) {
  var n, c, k, l;
  scalar const average = sum(l)(x(n, l)) / x.extent(1);
  scalar const variance = sum(k)((x(n, k) - average) * (x(n, k) - average)) / x.extent(1);
  return result(n, c) = (x(n, c) - average) * rsqrt(variance + 1e-5);
});
constexpr auto gate = compute("gate", [](operand x, operand h, weights p) {
  operand const w = p("w", 6, x.extent(1)), u = p("u", 6, h.extent(1)), b = p("b", 6);
  var n, g, i, k;
  return result(n, g) = sum(i)(w(g, i) * x(n, i)) + sum(k)(u(g, k) * h(n, k)) + b(g);
});
constexpr auto sum_of_sums = compute("sum_of_sums", [](operand x) {
  var n, i, j;
  return result(n) = sum(i)(sum(j)(x(n, i, j)));
});
constexpr auto sum_of_maxima = compute("sum_of_maxima", [](operand x) {
  var n, i, j;
  return result(n) = sum(i)(maximum(j)(x(n, i, j)));
});
constexpr auto scaled_product = compute("scaled_product", [](operand a, operand b) {
  var i, j, k;
  return result(i, j) = .25 * sum(k)(a(i, k) * b(k, j));
});
constexpr auto share = compute("share", [](operand x) {
  var n, i, j;
  return result(n) = x(n) / sum(i)(x(i)) + sum(j)(x(j));
});

}  // namespace

TEST_CASE("a fold with nothing around it does not change") {
  definition const d = sum_of_differences(extents(3, 5), extents(3, 5));
  CHECK(split_folds(d) == d);
  definition const capsules = operators::capsule_convolution(4, 3, 2)(extents(1, 2, 7, 7, 2, 3));
  CHECK(split_folds(capsules) == capsules);
  definition const softmax = operators::softmax(extents(3, 5));
  CHECK(split_folds(softmax) == softmax);
}

TEST_CASE("what follows a fold is an expression of its own") {
  definition const d = split_folds(mean(extents(3, 5)));
  REQUIRE(d.expression_count == 2);
  CHECK(d.expressions[0].at_root().kind == node_kind::sum);
  CHECK(d.expressions[0].result == extents(3));
  CHECK(d.expressions[1].at_root().kind == node_kind::divide);
  CHECK(d.expressions[1].operand_count == 1);
  CHECK(d.reads[1][0] == d.makes[0]);
  check_values(mean(extents(3, 5)), d, 1);
}

TEST_CASE("each fold has the axes that it depends on") {
  definition const d = split_folds(gate(extents(2, 3), extents(2, 4)));
  REQUIRE(d.expression_count == 3);
  CHECK(is_complex(d.expressions[0]));
  CHECK(is_complex(d.expressions[1]));
  CHECK(is_elementwise(d.expressions[2]));
  CHECK(d.result() == extents(2, 6));
  check_values(gate(extents(2, 3), extents(2, 4)), d, 2);
}

TEST_CASE("equal folds are made once, whatever their variables are") {
  definition const d = split_folds(softmax_at_once(extents(3, 5)));
  REQUIRE(d.expression_count == 3);
  CHECK(d.expressions[0].at_root().kind == node_kind::maximum_of);
  CHECK(d.expressions[1].at_root().kind == node_kind::sum);
  CHECK(inner_folds(d.expressions[1]) == 0);
  check_values(softmax_at_once(extents(3, 5)), d, 3);

  definition const total = split_folds(share(extents(6)));
  REQUIRE(total.expression_count == 2);
  CHECK(total.expressions[0].result == extents(1));
  check_values(share(extents(6)), total, 4);
}

TEST_CASE("folds of folds: those that depend on other folded axes stay, sums of sums are one sum") {
  definition const d = split_folds(standardised(extents(3, 8)));
  CHECK(d.expression_count == 5);  // sum, quotient, sum of squares, quotient, result
  for (int i = 0; i < d.expression_count; ++i) CHECK(inner_folds(d.expressions[i]) == 0);
  check_values(standardised(extents(3, 8)), d, 5);

  definition const sums = split_folds(sum_of_sums(extents(2, 3, 4)));
  REQUIRE(sums.expression_count == 1);
  CHECK(sums.expressions[0].body.node_count == 2);
  CHECK(sums.expressions[0].at_root().bits == 6u);
  check_values(sum_of_sums(extents(2, 3, 4)), sums, 6);

  definition const maxima = split_folds(sum_of_maxima(extents(2, 3, 4)));
  REQUIRE(maxima.expression_count == 1);
  CHECK(inner_folds(maxima.expressions[0]) == 1);
  check_values(sum_of_maxima(extents(2, 3, 4)), maxima, 7);
}

TEST_CASE("a number that multiplies a sum of products is one of its factors") {
  definition const d = split_folds(scaled_product(extents(3, 4), extents(4, 5)));
  REQUIRE(d.expression_count == 1);
  CHECK(d.expressions[0].at_root().kind == node_kind::sum);
  CHECK(matrix_form_of(d.expressions[0]).scale == .25f);
  check_values(scaled_product(extents(3, 4), extents(4, 5)), d, 8);
}

TEST_CASE("expressions that are accepted stay whole, and a scaled fold is asked for first") {
  auto const means = [](index_expression const& e, std::int16_t const*, definition const&) {
    return scaled_fold_of(e, e.root()).fold >= 0 && e.body.node_count == 4;
  };
  CHECK(split_folds(mean(extents(3, 5)), means) == mean(extents(3, 5)));
  definition const d = split_folds(standardised(extents(3, 8)), means);
  CHECK(d.expression_count == 4);
  CHECK(d.expressions[0] == mean(extents(3, 8)).expressions[0]);
  check_values(standardised(extents(3, 8)), d, 9);
}

TEST_CASE("what a sum of products would compute again and again is computed before") {
  auto const checked = [](auto const& op, int expressions, auto const&... in) {
    definition const before = op(in...), after = split_folds(before);
    REQUIRE(before.bad.what == fault::none);
    REQUIRE(after.bad.what == fault::none);
    REQUIRE(after.expression_count == expressions);
    check_values(before, after, 11);
    return after;
  };
  auto const is_product = [](definition const& d) {
    index_expression const& last = d.expressions[d.expression_count - 1];
    return matrix_form_of(last).why_not == no_matrix::none && last.at_root().kind == node_kind::sum;
  };
  auto const of_function = compute("of_function", [](operand x, weights p) {
    var n, k, c;
    return result(n, k) = sum(c)(p("w", 8, x.extent(1))(k, c) * tanh(x(n, c)) * 2);
  });
  definition const d = checked(of_function, 2, extents(5, 6));
  CHECK(is_product(d));
  CHECK(d.expressions[0].result == extents(5, 6));

  auto const padded_window = compute("padded_window", [](operand x, weights p) {  // the function of the padding: -1
    operand const z = padded(x, 0);
    var t{9}, k{8}, r{3}, c;
    return result(t, k) = sum(r, c)((maximum(z(t + r - 1, c), .5) - 1.5) * p("w")(k, r, c));
  });
  definition const w = checked(padded_window, 2, extents(9, 4));
  CHECK(is_product(w));
  CHECK(w.expressions[0].result == extents(9, 4));  // on the operand, not on the windows
  CHECK(w.expressions[1].body.accesses[0].pad() == -1);

  auto const three = compute("three", [](operand a, operand b, operand c) {
    var i, j, k;
    return result(i, j) = sum(k)(a(i, k) * c(k) * b(k, j));
  });
  CHECK(is_product(checked(three, 2, extents(7, 6), extents(6, 8), extents(6))));

  auto const centred = compute("centred", [](operand x, operand m, operand y) {
    var i, j, k;
    return result(i, j) = sum(k)((x(i, k) - m(k)) * y(k, j));
  });
  CHECK(is_product(checked(centred, 2, extents(7, 6), extents(6), extents(6, 8))));

  auto const gathered = compute("gathered", [](operand row, operand table, weights p) {
    var n, c, k{8};
    return result(n, k) = sum(c)(table(row(n), c) * p("w")(k, c));
  });
  CHECK(is_product(checked(gathered, 2, extents(5), extents(4, 6))));

  auto const dot = compute("dot", [](operand x, operand y) {  // each function is computed once anyway
    var n, c;
    return result(n) = sum(c)(exp(x(n, c)) * y(n, c));
  });
  CHECK(split_folds(dot(extents(5, 6), extents(5, 6))) == dot(extents(5, 6), extents(5, 6)));
  auto const unseparable = compute("unseparable", [](operand x, operand y) {
    var i{6}, j{6}, k{6};
    return result(i, j) = sum(k)(tanh(x(k)) * y((2 * i + 3 * k) / 4, j));
  });
  definition const u = unseparable(extents(6), extents(7, 6));
  CHECK(split_folds(u) == u);
}

TEST_CASE("limits are reported") {
  constexpr auto many = compute("many", [](operand x) {
    var n, k;
    operand y = x;
    for (int i = 0; i < 7; ++i) y = result(n) = 1 + i * sum(k)(y(n) * x(k)) / (3 + sum(k)(x(k) + i));
    return y;
  });
  definition const d = many(extents(4));
  REQUIRE(d.bad.what == fault::none);
  CHECK(split_folds(d).bad.what == fault::too_large);
}

TEST_CASE("random operators keep their values, and no fold is left that depends on no other") {
  constexpr int count = test::rounds(2000);
  int split = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    random_expression const e = generator(seed).draw();
    definition const before = writer(e).written();
    if (before.bad.what != fault::none) continue;
    definition const after = split_folds(before);
    if (after.bad.what == fault::too_large) continue;
    CAPTURE(seed);
    REQUIRE(after.bad.what == fault::none);
    split += after.expression_count > 1;
    for (int i = 0; i < after.expression_count; ++i) {
      index_expression const& x = after.expressions[i];
      detail::free_axes const free(x);
      for (int n = 0; n < x.root(); ++n)
        if (is_fold(x.body.nodes[n].kind)) REQUIRE((free.of[n] & ~x.result_axes()) != 0);
    }
    check_values(before, after, seed);
  }
  CHECK(split > count / 5);
}

TEST_CASE("two folds of the same elements that an axis of two indices chooses between are a pair") {
  auto const pair_of = [](definition const& d) { return fold_pair(d.expressions[0]); };
  auto const first_is = [&](int chosen) {
    return pair_of(compute("rows", [&](operand x) {
      var i, which{2}, j;
      return result(i, which) = select(which == chosen, sum(j)(x(i, j)), maximum(j)(x(i, j)));
    })(extents(3, 5)));
  };
  CHECK(first_is(0).axis == 1);
  CHECK(first_is(1).axis == -1);

  auto const product = compute("product", [](operand x, operand y) {
    var which{2}, i, j, k;
    return result(which, i, k) = select(which == 0, sum(j)(x(i, j) * y(j, k)), sum(j)(x(i, j)));
  });
  CHECK(pair_of(product(extents(3, 5), extents(5, 4))).axis == -1);

  auto const other_axes = compute("other_axes", [](operand x) {
    var which{2}, i, j, k;
    return result(which, i) = select(which == 0, sum(j)(x(i, j)), sum(k)(x(k, i)));
  });
  CHECK(pair_of(other_axes(extents(4, 4))).axis == -1);

  auto const dependent = compute("dependent", [](operand x) {
    var which{2}, i, j;
    return result(which, i) = select(which == 0, sum(j)(x(i, j)), sum(j)(x(i, j) * x.position(which)));
  });
  CHECK(pair_of(dependent(extents(4, 4))).axis == -1);
}
