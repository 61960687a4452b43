// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts of expressions that are derived by hand, in constant evaluation.
#include <ago/expression/bounds.hpp>
#include <ago/expression/matrix_form.hpp>

#include <doctest/doctest.h>

#include "operators.hpp"

using namespace ago::expression;

namespace {

/// The elements that the sum over r of x(index(p, r)) reads of 40.
template <class F>
constexpr long read_of(F const& index, int positions, int taps) {
  definition const d = compute("read", [=](operand x) {
    var p{positions}, r{taps};
    return result(p) = sum(r)(padded(x, 0)(index(p, r)));
  })(extents(40));
  return footprint(d.expressions[0], 0);
}

constexpr bool is_separable(definition const& d) { return matrix_form_of(d.expressions[0]).why_not == no_matrix::none; }

using loop = matrix_loop;

}  // namespace

TEST_CASE("a capsule convolution is a matrix product of positions and poses by capsules and poses") {
  constexpr definition d = operators::capsule_convolution(32, 3, 2)(extents(8, 32, 14, 14, 4, 4));
  constexpr index_expression e = d.expressions[0];
  static_assert(is_complex(e) && kind_of(e) == kind::fusable_out && dataflow_of(d) == dataflow::conv);
  static_assert(multiply_adds(d) == 8l * 32 * 6 * 6 * 4 * 4 * 32 * 3 * 3 * 4);
  static_assert(elements_read(e, 0) == 8l * 32 * 13 * 13 * 4 * 4);  // the last row and column are not reached
  static_assert(elements_read(e, 1) == e.operands[1].count());
  static_assert(lacks(e, 0) == 0b100010u && lacks(e, 1) == 0b011101u);
  constexpr matrix_form f = matrix_form_of(e);
  static_assert(f.why_not == no_matrix::none && f.a.start == 0 && f.scale == 1);
  static_assert(f.m.extent() == 8 * 6 * 6 * 4 && f.n.extent() == 32 * 4 && f.k.extent() == 32 * 9 * 4);
  static_assert(f.batch.count == 0);
  static_assert(!f.m.is_progression(&loop::a) && !f.k.is_progression(&loop::a) && !f.n.is_progression(&loop::c));
}

TEST_CASE("a matrix product needs no gathering") {
  constexpr definition d = operators::matrix_product(extents(5, 7), extents(7, 3));
  constexpr matrix_form f = matrix_form_of(d.expressions[0]);
  static_assert(f.m.is_progression(&loop::a) && f.m.step(&loop::a) == 7 && f.m.step(&loop::c) == 3);
  static_assert(f.k.step(&loop::a) == 1 && f.k.step(&loop::b) == 3 && f.n.step(&loop::b) == 1);
  static_assert(f.n.is_progression(&loop::b) && f.n.step(&loop::c) == 1);
}

TEST_CASE("rows of an image are one progression, columns under a window none") {
  static constexpr auto pointwise = compute("pointwise", [](operand x, weights weight) {
    operand const w = weight("w", 16, 8);
    var n, h, v, k, c;
    return result(n, h, v, k) = 2 * sum(c)(x(n, h, v, c) * w(k, c) * .5);
  });
  constexpr matrix_form f = matrix_form_of(pointwise(extents(2, 5, 6, 8)).expressions[0]);
  static_assert(f.m.extent() == 60 && f.m.is_progression(&loop::a) && f.m.step(&loop::a) == 8);
  static_assert(f.m.is_progression(&loop::c) && f.m.step(&loop::c) == 16 && f.scale == .5f);
}

TEST_CASE("padding enlarges the operand of a matrix product") {
  constexpr definition d = operators::dilated_convolution(4, 3, 2, 2)(extents(1, 5, 6, 3));
  constexpr matrix_form f = matrix_form_of(d.expressions[0]);
  static_assert(f.a.padded == extents(1, 9, 10, 3) && f.a.before[1] == 2 && f.a.before[2] == 2 && f.a.start == 0);
  static_assert(f.b.padded == d.values[1].extents && f.m.extent() == 30 && f.k.extent() == 27);
}

TEST_CASE("sums that are no product of two elements are refused") {
  static constexpr auto three = compute("three", [](operand a, operand b, operand c) {
    var i, j, k;
    return result(i, j) = sum(k)(a(i, k) * b(k, j) * c(k));
  });
  static_assert(matrix_form_of(three(extents(2, 3), extents(3, 4), extents(3)).expressions[0]).why_not ==
                no_matrix::more_factors);
  static constexpr auto looked_up = compute("looked_up", [](operand row, operand table, operand w) {
    var i, j, k;
    return result(i, j) = sum(k)(table(row(i), k) * w(k, j));
  });
  static_assert(matrix_form_of(looked_up(extents(2), extents(9, 3), extents(3, 4)).expressions[0]).why_not ==
                no_matrix::dependent_index);
  static_assert(matrix_form_of(operators::outer_product(extents(2), extents(3)).expressions[0]).why_not ==
                no_matrix::no_sum_of_products);
  static constexpr auto uneven = compute("uneven", [](operand a, operand b) {
    var i{6}, j, k;
    return result(i, j) = sum(k)(a((2 * i + 3 * k) / 4) * b(k, j));
  });
  static_assert(matrix_form_of(uneven(extents(9), extents(3, 4)).expressions[0]).why_not == no_matrix::not_separable);
}

TEST_CASE("digits resolve quotients and remainders that divide one another") {
  static constexpr auto heads = [](int first, int second) {
    return compute("heads", [=](operand a, operand b) {
      var i{24}, j, k;
      return result(i, j) = sum(k)(a(i / first, i % first / second, i % second, k) * b(k, j));
    });
  };
  static_assert(is_separable(heads(12, 3)(extents(2, 4, 3, 5), extents(5, 2))));
  static_assert(is_separable(heads(6, 2)(extents(4, 3, 2, 5), extents(5, 2))));
  static constexpr auto mixed = compute("mixed", [](operand a, operand b) {
    var i{24}, j, k;
    return result(i, j) = sum(k)(a(i / 2, i / 3, k) * b(k, j));
  });
  static_assert(!is_separable(mixed(extents(12, 8, 5), extents(5, 2))));  // 2 and 3 do not divide one another
  static constexpr auto three = compute("three", [](operand a, operand b, operand c) {
    var i{24};
    return result(i) = a(i / 2) + b(i / 3) + c(i);
  });
  static_assert(footprint(three(extents(12), extents(8), extents(24)).expressions[0], 2) == 24);
  static constexpr auto partial = compute("partial", [](operand a, operand b) {
    var i{7}, j, k;
    return result(i, j) = sum(k)(a(i / 2, i % 2, k) * b(k, j));
  });
  static_assert(!is_separable(partial(extents(4, 2, 5), extents(5, 2))));  // the last digit is incomplete
}

TEST_CASE("the elements that windows read") {
  static_assert(read_of([](auto& p, auto& r) { return p + r; }, 6, 3) == 8);
  static_assert(read_of([](auto& p, auto& r) { return 2 * p + r; }, 6, 3) == 13);
  static_assert(read_of([](auto& p, auto& r) { return 2 * p + r; }, 6, 1) == 6);
  static_assert(read_of([](auto& p, auto& r) { return 3 * p + r; }, 5, 2) == 10);  // every third is left out
  static_assert(read_of([](auto& p, auto& r) { return 2 * p + 4 * r; }, 6, 3) == 10);
  static_assert(read_of([](auto& p, auto& r) { return p + r - 1; }, 6, 3) == 7);
  static_assert(read_of([](auto& p, auto& r) { return 2 * p + r - 5; }, 3, 3) == 2);
  static_assert(read_of([](auto& p, auto& r) { return p + r + 38; }, 6, 3) == 2);
  static_assert(read_of([](auto& p, auto& r) { return 2 * p + 3 * r; }, 2, 4) == 8);
}

TEST_CASE("windows of windows overlap, but leave gaps") {
  static constexpr auto nested = compute("nested", [](operand x) {
    var p{5}, r{2}, s{2};
    return result(p) = sum(r, s)(x(4 * p + r + s));
  });
  static_assert(footprint(nested(extents(19)).expressions[0], 0) == 15);  // 0, 1, 2; 4, 5, 6; ...
}

TEST_CASE("a sum of squares is a reduction, a product of two rows is complex") {
  static constexpr auto squares = compute("squares", [](operand x) {
    var i, k;
    return result(i) = sum(k)(x(i, k) * x(i, k));
  });
  constexpr definition d = squares(extents(3, 4));
  static_assert(!is_complex(d.expressions[0]) && kind_of(d) == kind::reduction && multiply_adds(d) == 0);
  static constexpr auto gram = compute("gram", [](operand x) {
    var i, j, k;
    return result(i, j) = sum(k)(x(i, k) * x(j, k));
  });
  constexpr definition g = gram(extents(3, 4));
  static_assert(is_complex(g.expressions[0]) && kind_of(g) == kind::fusable_out && multiply_adds(g) == 36);
}

TEST_CASE("softmax is opaque for TVM, a reduction for Apollo, and positive") {
  constexpr definition d = operators::softmax(extents(5, 7));
  static_assert(kind_of(d) == kind::opaque && dataflow_of(d) == dataflow::reduction && multiply_adds(d) == 0);
  static_assert(kind_of(d.expressions[0]) == kind::reduction && kind_of(d.expressions[1]) == kind::broadcast);
  static_assert(is_elementwise(d.expressions[1]) && is_elementwise(d.expressions[3]) &&
                !is_elementwise(d.expressions[0]));
  constexpr bounds any[1]{};
  static_assert(bounds_of(d, any, arithmetic::rounded) == bounds{0, __builtin_huge_val()});
  constexpr definition lookup = operators::lookup(extents(5), extents(4, 2));
  static_assert(kind_of(lookup) == kind::injective && dataflow_of(lookup) == dataflow::opaque);
  constexpr definition outer = operators::outer_product(extents(5), extents(4));
  static_assert(kind_of(outer) == kind::broadcast && !is_elementwise(outer.expressions[0]));
}

TEST_CASE("padding of a maximum does not count if every window reaches an element") {
  static constexpr auto pool = [](int before) {
    return compute("max_pool", [=](operand x) {
      var p{4}, r{3};
      return result(p) = maximum(r)(padded(x, -__builtin_huge_valf())(2 * p + r - before));
    })(extents(8));
  };
  constexpr bounds given[]{{-1, 2}};
  constexpr definition reached = pool(2), missed = pool(3);
  static_assert(bounds_of(reached, given, arithmetic::rounded) == bounds{-1, 2});
  static_assert(bounds_of(missed, given, arithmetic::rounded) == bounds{-__builtin_huge_val(), 2});
}

TEST_CASE("an element of the result may be computed in the place of the only element of an operand that it needs") {
  extents const in(1, 6, 6), row(6);
  auto const reads_own = [&](auto const& f) {
    definition const d = compute("map", f)(in, row);
    return reads_own_element(d.expressions[0], 0);
  };
  CHECK(reads_own([](operand x, operand r) {
    var n, h, w;
    return result(n, h, w) = x(n, h, w) * r(w) + exp(x(0, h, w));  // n is always 0
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w;
    return result(n, h, w) = x(n, h, w) + x(n, w, h) * r(w);
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w;
    return result(n, h, w) = padded(x, 0)(n, h + 1, w) * r(w);
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w;
    return result(n, h, w) = x(n, h, 5 - w) * r(w);
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w;
    return result(n, h, w) = x(n, h, r(w));
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w, k;
    return result(n, h, w) = x(n, h, w) * sum(k)(r(k));
  }));
  CHECK(!reads_own([](operand x, operand r) {
    var n, h, w{3};
    return result(n, h, w) = x(n, h, w) * r(w);
  }));
}
