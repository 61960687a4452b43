// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be wrong with an index expression.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::expression {

/// Faults are found while an expression is traced, and asserted when it is used (check.hpp).
enum class fault : std::uint8_t {
  none,
  extents_differ,
  extent_unknown,
  reads_outside,
  rank_differs,
  variable_is_free,
  variable_listed_twice,
  variable_reduced_twice,
  index_too_complex,
  divisor_must_be_positive,
  extent_must_be_positive,
  operand_of_another_operator,
  too_large,
  reads_nothing,
  no_result,
  no_gradient,
  gradient_too_large,
};

/// The first fault of an operator. `operand`: the number of a value, the inputs first, then parameters and results as
/// they are made; -1: it is about none. `expression`: the number of the index expression. `line`: of the user's source.
struct diagnostic {
  fault what{};
  int expression{-1}, operand{-1}, dimension{-1}, line{};
  long expected{}, actual{};
  constexpr bool operator==(diagnostic const&) const = default;
};

}  // namespace ago::expression
