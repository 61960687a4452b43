// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index expression as a value, and an operator: a few of them, one after the other.
#pragma once

#include <ago/expression/fault.hpp>
#include <ago/expression/pool.hpp>

namespace ago::expression {

/// The extents of a value, outermost first; its elements are stored in this order.
struct extents {
  int rank{};
  int of[max_rank]{};

  constexpr extents() = default;
  template <class... I>
  constexpr explicit extents(int first, I... more) : rank(1 + int(sizeof...(I))), of{first, int(more)...} {}

  constexpr bool operator==(extents const&) const = default;
  constexpr int operator[](int i) const { return of[i]; }
  constexpr int& operator[](int i) { return of[i]; }
  constexpr long count() const {
    long r = 1;
    for (int i = 0; i < rank; ++i) r *= of[i];
    return r;
  }
  /// Elements from one index of dimension d to the next.
  constexpr long stride(int d) const {
    long r = 1;
    for (int i = d + 1; i < rank; ++i) r *= of[i];
    return r;
  }
};

/// result[x0 ... xn] = body, for all x below the extents of the result. Structural, so that it can be a template
/// argument: equal expressions are equal arrays, whatever names, lines and order of declaration they were written with.
/// Axes 0 ... result.rank - 1 are the indices of the result, in order; the others belong to folds. The last node is the
/// root.
struct index_expression {
  static constexpr int max_operands = 8;

  pool<48, 12, 12, 40> body{};
  std::int16_t axis_count{}, operand_count{};
  int extent[max_axes]{};
  extents operands[max_operands]{};  ///< of the values that are read
  extents result{};

  constexpr bool operator==(index_expression const&) const = default;
  constexpr int root() const { return body.node_count - 1; }
  constexpr node const& at_root() const { return body.nodes[root()]; }
  constexpr unsigned result_axes() const { return (1u << result.rank) - 1; }
  /// Axes of several indices.
  constexpr unsigned wide_axes() const {
    unsigned r = 0;
    for (int x = 0; x < axis_count; ++x) r |= unsigned(extent[x] > 1) << x;
    return r;
  }
};

/// Where a value of an operator comes from.
enum class value_role : std::uint8_t { input, parameter, computed };

/// A name of up to 23 characters.
struct name {
  char text[24]{};
  constexpr name() = default;
  constexpr name(char const* s) {
    for (int i = 0; i < 23 && s[i] != 0; ++i) text[i] = s[i];
  }
  constexpr bool operator==(name const&) const = default;
};

/// A value that an operator reads or makes.
struct value {
  value_role role{};
  expression::extents extents{};
  int made_by{-1};          ///< the expression that computes it
  expression::name name{};  ///< of a parameter
  bool is_inferred{};       ///< a parameter whose extents follow from the indices
  bool is_detached{};       ///< a copy of a value through which no gradient flows
  constexpr bool operator==(value const&) const = default;
};

/// An operator for operands of known extents: values, and the expressions that compute some of them in order.
struct definition {
  static constexpr int max_values = 24, max_expressions = 12, max_results = 4;

  expression::name name{};
  value values[max_values]{};
  index_expression expressions[max_expressions]{};
  /// The values that operands of expression i are.
  std::int16_t reads[max_expressions][index_expression::max_operands]{};
  std::int16_t makes[max_expressions]{};  ///< the value that expression i computes
  int results[max_results]{};
  int value_count{}, input_count{}, expression_count{}, result_count{};
  diagnostic bad{};

  constexpr bool operator==(definition const&) const = default;
  constexpr extents const& result(int i = 0) const { return values[results[i]].extents; }
};

}  // namespace ago::expression
