// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose indices are values.
#pragma once

#include <ago/recognition/operation.hpp>

namespace ago {

namespace described {
/// An index that counts from the end of `extent` if it is negative.
constexpr expression::scalar from_end(expression::scalar const& index, int extent) {
  return select(index < 0., index + double(extent), index);
}
}  // namespace described

/// result[n, i, c] = x[n, at[n, i, c], c]; negative indices count from the end. The second operand is `at`.
struct take_along_axis {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor value, tensor indices) const {
    auto const formula = [](expression::operand x, expression::operand at) {
      using namespace expression;
      var n, i{at.extent(1)}, c;
      return result(n, i, c) = x(n, described::from_end(at(n, i, c), x.extent(1)), c);
    };
    return expression::compute("take_along_axis", formula, line)(value, indices);
  }
};

/// result[n, i, c] = x[n, at[n, i, 0], at[n, i, 1], ..., c], for up to four indices. The first operand has the extents
/// [n, first * second * third * fourth, c]. Negative indices count from the end.
struct gather_nd {
  int first = 1, second = 1, third = 1, fourth = 1;  ///< extents of the axes that are indexed
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor value, tensor indices) const {
    auto const formula = [this](expression::operand x, expression::operand at) {
      using namespace expression;
      int const extent[] = {first, second, third, fourth}, depth = at.extent(2) < 4 ? at.extent(2) : 4;
      var n, i, c;
      scalar place = 0.;
      for (int k = 0; k < depth; ++k) place = place * double(extent[k]) + described::from_end(at(n, i, k), extent[k]);
      return result(n, i, c) = x(n, place, c);
    };
    return expression::compute("gather_nd", formula, line)(value, indices);
  }
};

/// The first lengths[n] elements of the second one of three axes in reverse order. The second operand is the lengths.
struct reverse_sequence {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor value, tensor lengths) const {
    auto const formula = [](expression::operand x, expression::operand length) {
      using namespace expression;
      var n, i{x.extent(1)}, c;
      scalar const at = x.position(i);
      return result(n, i, c) = x(n, select(at < length(n), length(n) - 1. - at, at), c);
    };
    return expression::compute("reverse_sequence", formula, line)(value, lengths);
  }
};

}  // namespace ago
