// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of index expressions are the differences of their values.
#include <ago/expression/gradient.hpp>
#include <ago/expression/matrix_form.hpp>
#include <ago/operators/description.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <climits>
#include <map>
#include <set>
#include <string>

#include "differences.hpp"
#include "generator.hpp"
#include "operators.hpp"
#include "reference/random_graph.hpp"
#include "support/rounds.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

/// Compares the gradients of all operands of all expressions with differences; returns how many gradients there are.
int check_gradients(definition const& d, differences& seen, unsigned seed = 1) {
  std::mt19937 random(seed);
  int made = 0;
  for (int i = 0; i < d.expression_count; ++i)
    for (int k = 0; k < d.expressions[i].operand_count; ++k) {
      CAPTURE(i);
      CAPTURE(k);
      definition const g = gradient_of(d.expressions[i], k);
      if (g.bad.what == fault::no_gradient) {
        seen.check_zero(d.expressions[i], k, random);
        continue;
      }
      seen.check(d.expressions[i], k, g, random);
      ++made;
    }
  return made;
}

/// Is every expression of a gradient made by the one that its value names, and read or the result?
bool is_well_formed(definition const& g) {
  bool used[definition::max_values]{};
  used[g.results[0]] = true;
  for (int i = g.expression_count; i-- > 0;) {
    if (!used[g.makes[i]] || g.values[g.makes[i]].made_by != i) return false;
    for (int k = 0; k < g.expressions[i].operand_count; ++k) {
      int const v = g.reads[i][k];
      if (v >= g.makes[i] || g.values[v].extents.count() != g.expressions[i].operands[k].count()) return false;
      used[v] = true;
    }
  }
  return g.value_count == g.input_count + g.expression_count;
}

/// An operator on one operand, of the given extents.
template <class F>
definition made_of(F const& f, extents const& x) {
  return compute("op", f)(x);
}

}  // namespace

TEST_CASE("random expressions have the gradients that differences of their values give") {
  constexpr int count = test::rounds(2000);
  std::map<fault, int> refused;
  differences seen;
  int made = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    random_expression const e = generator(seed).draw();
    definition const d = writer(e).written();
    if (d.bad.what != fault::none) continue;
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (int k = 0; k < d.expressions[0].operand_count; ++k) {
      CAPTURE(k);
      definition const g = gradient_of(d.expressions[0], k);
      ++(g.bad.what == fault::none ? made : refused[g.bad.what]);
      if (g.bad.what == fault::none) seen.check(d.expressions[0], k, g, random);
      if (g.bad.what == fault::none) REQUIRE(is_well_formed(g));
      if (g.bad.what == fault::no_gradient) seen.check_zero(d.expressions[0], k, random);
    }
  }
  MESSAGE(made, " gradients, of which ", refused[fault::too_large], " are too large and ", refused[fault::no_gradient],
          " are 0; ", seen.elements, " elements, ", seen.kinks, " at kinks");
  CHECK(refused.size() == 2);
  CHECK(refused[fault::too_large] < made / 10);
  CHECK(seen.kinks < seen.elements / 50);
  CHECK(made > count);
}

TEST_CASE("random sums of products have gradients, and those without quotients are sums of products") {
  constexpr int count = test::rounds(2000);
  differences seen;
  int made = 0, products = 0, too_large = 0, in_two_steps = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    bool const quotients = seed % 4 == 0;
    random_expression const e = generator(seed).draw_product(quotients, true);
    definition const d = writer(e).written();
    if (d.bad.what != fault::none || !is_complex(d.expressions[0])) continue;
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (int k = 0; k < d.expressions[0].operand_count; ++k) {
      CAPTURE(k);
      definition const g = gradient_of(d.expressions[0], k);
      too_large += g.bad.what == fault::too_large;
      if (g.bad.what == fault::too_large) continue;
      seen.check(d.expressions[0], k, g, random);
      definition const products_first = gradient_of(d.expressions[0], k, LONG_MIN / 2);  // as if a step cost nothing
      if (products_first.bad.what == fault::none && !(products_first == g)) {
        seen.check(d.expressions[0], k, products_first, random);
        REQUIRE(is_well_formed(products_first));
        ++in_two_steps;
      }
      if (quotients) continue;
      ++made;
      for (int i = 0; i < g.expression_count; ++i)
        products += matrix_form_of(g.expressions[i]).why_not == no_matrix::none;
    }
  }
  MESSAGE(made, " gradients without quotients, ", products, " matrix products; ", too_large, " too large; ",
          in_two_steps, " with sums after products");
  CHECK(too_large < made / 50);
  CHECK(in_two_steps > made / 10);
  CHECK(products > made / 2);
}

TEST_CASE("every operator of random graphs that has an expression has gradients") {
  differences seen;
  std::set<std::string> kinds, none;
  for (unsigned seed = 1; seed <= unsigned(test::rounds(60)); ++seed) {
    reference::random_graph const random(seed);
    auto const& g = random.graph;
    for (int v = g.input_count; v < g.node_count; ++v) {
      auto const d = ago::described::description_of(g, v);
      if (!d.exists) continue;
      CAPTURE(seed);
      CAPTURE(v);
      std::string const kind = name_of(g.nodes[v].kind);
      CAPTURE(kind);
      (check_gradients(d.as, seen, seed) > 0 ? kinds : none).insert(kind);
    }
  }
  MESSAGE(kinds.size(), " kinds of operators, ", seen.elements, " elements, ", seen.kinks, " at kinks");
  CHECK(none == std::set<std::string>{"less"});
  CHECK(kinds.size() >= 40);
}

TEST_CASE("the operators of the documentation have gradients") {
  differences seen;
  CHECK(check_gradients(operators::capsule_convolution(3, 3, 2)(extents(1, 2, 7, 7, 2, 3)), seen) == 2);
  CHECK(check_gradients(operators::matrix_product(extents(5, 6), extents(6, 7)), seen) == 2);
  CHECK(check_gradients(operators::softmax(extents(3, 5)), seen) == 6);
  CHECK(check_gradients(operators::depth2space(2)(extents(1, 3, 2, 8)), seen) == 1);
  CHECK(check_gradients(operators::dilated_convolution(4, 3, 2, 2)(extents(2, 7, 6, 3)), seen) == 2);
  CHECK(check_gradients(operators::outer_product(extents(5), extents(4)), seen) == 2);
  CHECK(check_gradients(operators::sub_lstm_cell(extents(2, 3), extents(2, 4), extents(2, 4)), seen) == 9);
  CHECK(check_gradients(operators::lookup(extents(5), extents(4, 3)), seen) == 1);  // of the table, not of the row
  CHECK(seen.kinks == 0);
}

TEST_CASE("windows of every stride, dilation, pad and group have gradients, also where windows leave gaps") {
  differences seen;
  for (int const kernel : {1, 2, 3, 5})
    for (int const stride : {1, 2, 3, 4})
      for (int const dilation : {1, 2, 3, 4})
        for (int const pad : {0, 1, 3}) {
          if (dilation > 1 && kernel == 1) continue;
          int const extent = 12, count = windows(extent, kernel, stride, dilation, 2 * pad);
          if (count < 1) continue;
          CAPTURE(kernel);
          CAPTURE(stride);
          CAPTURE(dilation);
          CAPTURE(pad);
          auto const at = [&](var& p, var& r) { return stride * p + dilation * r - pad; };
          auto const sums = compute("sums", [&](operand x, operand w) {
            var p{count}, k, r{kernel}, c;
            return result(p, k) = sum(r, c)(padded(x, 0)(at(p, r), k / 2 * 2 + c) * w(k, c, r));
          });
          definition const d = sums(extents(extent, 4), extents(4, 2, kernel));
          REQUIRE(check_gradients(d, seen) == 2);
          // The gradient of x is a matrix product, whatever windows it has.
          definition const g = gradient_of(d.expressions[0], 0);
          CHECK(matrix_form_of(g.expressions[0]).why_not == no_matrix::none);
          auto const largest = compute("largest", [&](operand x) {
            var p{count}, r{kernel}, c;
            return result(p, c) = maximum(r)(padded(x, -3)(at(p, r), c));
          });
          REQUIRE(check_gradients(largest(extents(extent, 2)), seen) == 1);
        }
  CHECK(seen.kinks == 0);
}

TEST_CASE("the first of equal elements is the maximum, and relu has no slope at 0") {
  auto const gradient = [](definition const& d, values const& x, values const& result, values const& flow) {
    return run(gradient_of(d.expressions[0], 0), {x, result, flow})[0];
  };
  definition const pool = made_of(
      [](operand x) {
        var p{2}, r{3};
        return result(p) = maximum(r)(x(2 * p + r));
      },
      extents(5));
  CHECK(gradient(pool, {1, 3, 3, 2, 3}, {3, 3}, {10, 1}) == values{0, 10, 1, 0, 0});
  definition const smallest = made_of(
      [](operand x) {
        var i, j;
        return result(i) = minimum(j)(x(i, j));
      },
      extents(1, 4));
  CHECK(gradient(smallest, {2, 1, 1, 1}, {1}, {5}) == values{0, 5, 0, 0});
  definition const relu = made_of(
      [](operand x) {
        var i;
        return result(i) = maximum(x(i), 0);
      },
      extents(3));
  CHECK(gradient(relu, {-1, 0, 1}, {0, 0, 1}, {2, 3, 4}) == values{0, 0, 4});
}

TEST_CASE("a product has the gradient of the other factors where one is 0") {
  definition const d = made_of(
      [](operand x) {
        var i;
        return result() = product(i)(x(i));
      },
      extents(3));
  definition const g = gradient_of(d.expressions[0], 0);
  CHECK(run(g, {{2, 0, 3}, {0}, {1}})[0] == values{0, 6, 0});
}

TEST_CASE("what does not depend on an operand has no gradient, and is refused") {
  definition const d = compute("steps", [](operand x, operand row, operand table) {
    var i;
    return result(i) = floor(x(i)) + table(row(i));
  })(extents(4), extents(4), extents(5));
  index_expression const& e = d.expressions[0];
  int refused = 0;
  for (int k = 0; k < e.operand_count; ++k) {
    definition const g = gradient_of(e, k);
    if (d.reads[0][k] == 2) CHECK(g.bad.what == fault::none);
    else refused += g.bad == diagnostic{.what = fault::no_gradient, .operand = k};
  }
  CHECK(refused == 2);
}

TEST_CASE("the gradient of an element that is read twice is the sum of both") {
  definition const d = made_of(
      [](operand x) {
        var i{4};
        return result(i) = x(i) * x(i + 1);
      },
      extents(5));
  definition const g = gradient_of(d.expressions[0], 0);
  CHECK(run(g, {{1, 2, 3, 4, 5}, {2, 6, 12, 20}, {1, 1, 1, 1}})[0] == values{2, 4, 6, 8, 4});
}
