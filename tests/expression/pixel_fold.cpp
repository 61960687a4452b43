// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which expressions add up some pixels of an image after the others.
#include <ago/expression/pixel_fold.hpp>

#include <ago/learning/batch_norm.hpp>
#include <doctest/doctest.h>

using namespace ago::expression;

namespace {

constexpr extents image(2, 8, 6, 5);

/// Of the only expression of a definition.
constexpr bool folds(definition const& d, int operand, int rows = 2) {
  return pixel_fold(d.expressions[0]).is_over(operand, rows);
}

struct axes {
  var n, h, w, c;
};
/// Of an image.
constexpr definition of(auto const& value) {
  return compute("of", [&](operand x) {
    axes i;
    return result(i.c) = value(x, i);
  })(image);
}

}  // namespace

TEST_CASE("the sums of a batch norm, and of its gradient, are folds of the pixels of all their images") {
  constexpr definition moments = ago::learning::training_norm::moments(image);
  static_assert(folds(moments, 0));
  static_assert(!folds(moments, 0, 1));                                        // the center is in the second row
  constexpr definition sums = ago::learning::training_norm::flow_sums(image);  // of flow, x and mean
  static_assert(folds(sums, 0) && folds(sums, 1) && !folds(sums, 2));
}

TEST_CASE("what reads other pixels, or makes more of a fold, is none") {
  static_assert(folds(of([](operand x, axes& i) { return sum(i.n, i.h, i.w)(x(i.n, i.h, i.w, i.c)); }), 0));
  static_assert(folds(of([](operand x, axes& i) { return maximum(i.n, i.h, i.w)(x(i.n, i.h, i.w, i.c)); }), 0));
  static_assert(!folds(of([](operand x, axes& i) { return sum(i.h, i.w)(x(1, i.h, i.w, i.c)); }), 0));
  static_assert(!folds(of([](operand x, axes& i) { return 2 * sum(i.n, i.h, i.w)(x(i.n, i.h, i.w, i.c)); }), 0));
  static_assert(!folds(of([](operand x, axes& i) { return sum(i.n, i.h, i.w)(x(i.n, 7 - i.h, i.w, i.c)); }), 0));
  constexpr auto times = [](auto other) {
    return of([=](operand x, axes& i) { return sum(i.n, i.h, i.w)(x(i.n, i.h, i.w, i.c) * other(x, i)); });
  };
  static_assert(folds(times([](operand x, axes& i) { return x(0, 1, 5, i.c); }), 0));
  static_assert(!folds(times([](operand x, axes& i) { return x(1, 0, 0, i.c); }), 0));
  static_assert(!folds(times([](operand x, axes& i) { return x(i.n, i.h, i.w, 0); }), 0));
  constexpr definition fewer_rows = compute("sum", [](operand x) {
    var n, h{7}, w, c;
    return result(c) = sum(n, h, w)(x(n, h, w, c));
  })(image);
  static_assert(!folds(fewer_rows, 0));
}
