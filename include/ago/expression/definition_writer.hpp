// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that are added to an operator.
#pragma once

#include <ago/expression/index_expression.hpp>

#include <cstdint>

namespace ago::expression::detail {

struct definition_writer {
  definition& to;

  constexpr bool has_room(int count, int capacity) {
    if (count < capacity) return true;
    complain(capacity);
    return false;
  }
  constexpr void complain(int capacity) {
    if (to.bad.what != fault::none) return;
    to.bad = {
        .what = fault::too_large, .expression = to.expression_count, .expected = capacity, .actual = capacity + 1};
  }

  /// Adds an expression, unless it is there already and its value is not detached; returns its value.
  constexpr int emit(index_expression const& e, std::int16_t const* reads) {
    for (int i = 0; i < to.expression_count; ++i) {
      index_expression const& other = to.expressions[i];
      bool same = other.body.node_count == e.body.node_count && other.operand_count == e.operand_count &&
                  other.at_root() == e.at_root() && !to.values[to.makes[i]].is_detached;
      for (int k = 0; same && k < e.operand_count; ++k) same = to.reads[i][k] == reads[k];
      if (same && other == e) return to.makes[i];
    }
    return append(e, reads);
  }
  constexpr int append(index_expression const& e, std::int16_t const* reads) {
    if (!has_room(to.expression_count, definition::max_expressions) ||
        !has_room(to.value_count, definition::max_values))
      return 0;
    int const number = to.expression_count++, made = to.value_count++;
    to.expressions[number] = e;
    for (int k = 0; k < e.operand_count; ++k) to.reads[number][k] = reads[k];
    to.makes[number] = std::int16_t(made);
    to.values[made] = {.role = value_role::computed, .extents = e.result, .made_by = number};
    return made;
  }
};

}  // namespace ago::expression::detail
