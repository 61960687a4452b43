// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An expression in place of what another one reads.
#include <ago/expression/notation.hpp>
#include <ago/expression/substitution.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "generator.hpp"
#include "run.hpp"
#include "support/rounds.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

/// Clipped multiples of a, of the given extents, plus multiples of its last axis; read backwards along the first one.
template <int RANK>
definition elementwise(extents const& of) {
  return [&]<int... D>(std::integer_sequence<int, D...>) {
    return compute("inner", [&](operand a, operand b) {
      var v[RANK];
      affine const first = of[0] - 1 - v[0];
      scalar const x = a((D == 0 ? first : affine(v[D]))...) * b(v[RANK - 1]);
      return result(v[D]...) = minimum(x, 3) + .5 * a(v[D]...);
    })(of, extents(of[RANK - 1]));
  }(std::make_integer_sequence<int, RANK>{});
}
definition elementwise(extents const& of) {
  switch (of.rank) {
    case 1: return elementwise<1>(of);
    case 2: return elementwise<2>(of);
    case 3: return elementwise<3>(of);
    case 4: return elementwise<4>(of);
    case 5: return elementwise<5>(of);
    default: return elementwise<6>(of);
  }
}

/// Does an expression read an operand only at indices inside of it that are known?
bool reads_plainly(index_expression const& e, int operand) {
  bool r = true;
  for (int i = 0; i < e.body.access_count; ++i) {
    element_access const& a = e.body.accesses[i];
    if (a.operand != operand) continue;
    r = r && !a.padded;
    for (int d = 0; d < a.rank; ++d) r = r && a.at[d].node < 0;
  }
  return r;
}
/// The operands that an expression reads, as an operator's inputs.
definition alone(index_expression const& e) {
  definition d;
  for (int k = 0; k < e.operand_count; ++k) d.values[d.value_count++].extents = e.operands[k];
  d.input_count = d.value_count;
  std::int16_t reads[index_expression::max_operands]{};
  for (int k = 0; k < e.operand_count; ++k) reads[k] = std::int16_t(k);
  d.results[d.result_count++] = detail::definition_writer{d}.emit(e, reads);
  return d;
}

}  // namespace

TEST_CASE("an operator whose operand is computed in place has the results of both, one after the other") {
  int done = 0, refused = 0;
  for (unsigned seed = 1; seed <= unsigned(test::rounds(750)); ++seed) {
    definition const drawn = writer(generator(seed).draw()).written();
    if (drawn.bad.what != fault::none) continue;
    definition const outer = alone(drawn.expressions[0]);
    std::mt19937 random(seed);
    for (int k = 0; k < outer.input_count; ++k) {
      CAPTURE(seed);
      CAPTURE(k);
      definition const inner = elementwise(outer.values[k].extents);
      definition const both = substituted(outer, k, inner);
      if (!reads_plainly(outer.expressions[0], k)) {
        CHECK(both.bad.what == fault::too_large);
        ++refused;
        continue;
      }
      if (both.bad.what != fault::none) {
        ++refused;
        continue;
      }
      std::vector<values> given = random_operands(outer, random), of_inner = random_operands(inner, random), of_both;
      given[std::size_t(k)] = run(inner, of_inner)[0];
      for (int i = 0; i < outer.input_count; ++i)
        if (i != k) of_both.push_back(given[std::size_t(i)]);
      of_both.insert(of_both.end(), of_inner.begin(), of_inner.end());
      REQUIRE(both.input_count == int(of_both.size()));
      values const together = run(both, of_both)[0], apart = run(outer, given)[0];
      REQUIRE(together.size() == apart.size());
      bool close = true;  // equal but for the order of additions
      for (std::size_t i = 0; i < apart.size(); ++i)
        close &= std::fabs(together[i] - apart[i]) <= 1e-12 * (1 + std::fabs(apart[i]));
      REQUIRE(close);
      ++done;
    }
  }
  MESSAGE(done, " are computed in place, ", refused, " are refused");
  CHECK(done > test::rounds(750));
}

TEST_CASE("an input of both is one input, and what nothing reads is none") {
  extents const in(2, 3);
  definition const outer = compute("outer", [](operand x, operand y) {
    var i, j;
    return result(j) = sum(i)(y(i, j) * (x(i, j) - 1));
  })(in, in);
  definition const inner = compute("inner", [](operand, operand a, operand b) {
    var i, j;
    return result(i, j) = select(0 < a(i, j), b(j), 0);
  })(in, in, extents(3));
  definition const both = substituted(outer, 1, inner, {-1, 0});
  REQUIRE(both.bad.what == fault::none);
  REQUIRE(both.input_count == 2);  // x and b
  CHECK(both.values[0].extents == in);
  CHECK(both.values[1].extents == extents(3));
  CHECK(both.expression_count == 1);
  CHECK(run(both, {{1, -1, 3, 2, 5, 0}, {10, 20, 30}})[0] == values{10, 80, 60});
}

TEST_CASE("operands that are read beyond their edge cannot be computed in place") {
  definition const outer = compute("outer", [](operand x) {
    var i{4};
    return result(i) = padded(x, 0)(i - 1);
  })(extents(4));
  CHECK(substituted(outer, 0, elementwise(extents(4))).bad.what == fault::too_large);
}

TEST_CASE("where a comparison does not depend on the bounds of what it compares, these are left out") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  values const inputs{-1, 0, 1e-6, 3, 6, 7, -0., nan};
  extents const all(8);
  auto const clips = [](definition const& d) {
    int n = 0;
    index_expression const& e = d.expressions[0];
    for (int i = 0; i < e.body.node_count; ++i)
      n += e.body.nodes[i].kind == node_kind::minimum || e.body.nodes[i].kind == node_kind::maximum;
    return n;
  };
  definition const relu6 = compute("relu6", [](operand x) {
    var i;
    return result(i) = minimum(maximum(x(i), 0), 6);
  })(all);
  // `left`: bounds that matter.
  auto const check = [&](auto const& condition, int left) {
    definition const outer = compute("outer", [&](operand x) {
      var i;
      return result(i) = select(condition(x(i)), 1, 2);
    })(all);
    definition const both = substituted(outer, 0, relu6);
    REQUIRE(both.bad.what == fault::none);
    CHECK(clips(both) == left);
    values const together = run(both, {inputs})[0], apart = run(outer, {run(relu6, {inputs})[0]})[0];
    CHECK(together == apart);
  };
  auto const number = [](scalar const& x, double n) { return x * 0 + n; };
  check([](scalar const& x) { return 0 < x; }, 0);
  check([](scalar const& x) { return x < 6; }, 0);
  check([](scalar const& x) { return 3 < x; }, 0);
  check([](scalar const& x) { return x < 3; }, 0);
  check([](scalar const& x) { return 6 < x; }, 2);              // never, because of the upper, outer bound
  check([](scalar const& x) { return x < 0; }, 1);              // never, because of the lower bound
  check([](scalar const& x) { return -1 < x; }, 1);             // always, but for NaN
  check([](scalar const& x) { return x < 6.5; }, 2);            // likewise
  check([&](scalar const& x) { return number(x, 3) < x; }, 2);  // not compared with a number
}
