// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that depend on where an element is, on three axes.
#pragma once

#include <ago/recognition/operation.hpp>

namespace ago {

/// 1 at the maximum of the middle one of three axes, the first of equals, and 0 elsewhere.
struct hardmax {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor value) const {
    auto const formula = [](expression::operand x) {
      using namespace expression;
      var n, i, c, k;
      operand const most = result(n, c) = maximum(k)(x(n, k, c));
      operand const first = result(n, c) = minimum(k)(select(x(n, k, c) == most(n, c), x.position(k), 3e38));
      var m, j{x.extent(1)}, d;
      return result(m, j, d) = x.position(j) == first(m, d);
    };
    return expression::compute("hardmax", formula, line)(value);
  }
};

/// A triangle of matrices: the elements of x[n, i, j] where j >= i + diagonal, or with `lower` j <= i + diagonal; 0
/// elsewhere.
struct triangle {
  int diagonal = 0;
  bool lower = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor value) const {
    auto const formula = [this](expression::operand x) {
      using namespace expression;
      var n, i, j;
      expression::affine const above = lower ? i + diagonal - j : j - i - diagonal;
      return result(n, i, j) = select(above >= expression::affine(0), x(n, i, j), 0.);
    };
    return expression::compute("triangle", formula, line)(value);
  }
};

}  // namespace ago
