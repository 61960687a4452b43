// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The canonical form of an index expression: equal parts are united, and terms sorted.
#pragma once

#include <ago/expression/index_expression.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// Adds parts to an expression. What does not fit is left out, and `exceeded` is then the capacity.
struct canonical {
  index_expression& to;
  int exceeded{};

  constexpr bool has_room(int count, int capacity) {
    if (count >= capacity && exceeded == 0) exceeded = capacity;
    return count < capacity;
  }

  static constexpr int max_terms = 16;  ///< of a sum
  /// Adds up `count` terms, in any order.
  constexpr affine_sum add(term const* terms, int count, std::int32_t constant) {
    term sorted[max_terms]{};
    int sorted_count = 0;
    for (int i = 0; i < count; ++i) {
      int place = 0;
      while (place < sorted_count && sorted[place].atom < terms[i].atom) ++place;
      if (place < sorted_count && sorted[place].atom == terms[i].atom) {
        sorted[place].coefficient += terms[i].coefficient;
        continue;
      }
      for (int k = sorted_count++; k > place; --k) sorted[k] = sorted[k - 1];
      sorted[place] = terms[i];
    }
    affine_sum r{to.body.term_count, 0, constant};
    for (int i = 0; i < sorted_count; ++i)
      if (sorted[i].coefficient != 0 && has_room(to.body.term_count, to.body.term_capacity)) {
        to.body.terms[to.body.term_count++] = sorted[i];
        ++r.count;
      }
    return united(r);
  }
  constexpr int add(quotient const& q) {
    for (int i = 0; i < to.body.quotient_count; ++i)
      if (to.body.quotients[i] == q) return i;
    if (!has_room(to.body.quotient_count, to.body.quotient_capacity)) return 0;
    to.body.quotients[to.body.quotient_count] = q;
    return to.body.quotient_count++;
  }
  constexpr int add(element_access const& a) {
    for (int i = 0; i < to.body.access_count; ++i)
      if (to.body.accesses[i] == a) return i;
    if (!has_room(to.body.access_count, to.body.access_capacity)) return 0;
    to.body.accesses[to.body.access_count] = a;
    return to.body.access_count++;
  }
  constexpr int add(node const& n) {
    int place = 0;
    while (place < to.body.node_count && !(to.body.nodes[place] == n)) ++place;
    if (place < to.body.node_count) return place;
    if (!has_room(place, to.body.node_capacity)) return 0;
    to.body.nodes[to.body.node_count] = n;
    return to.body.node_count++;
  }
  /// The operand that is `value`, of such extents. `reads`: the values of the operands so far.
  constexpr int add_operand(std::int16_t* reads, int value, extents const& of) {
    for (int i = 0; i < to.operand_count; ++i)
      if (reads[i] == value) return i;
    if (!has_room(to.operand_count, index_expression::max_operands)) return 0;
    reads[to.operand_count] = std::int16_t(value);
    to.operands[to.operand_count] = of;
    return to.operand_count++;
  }

 private:
  /// The first sum with the same terms stands for all of them.
  constexpr affine_sum united(affine_sum s) {
    for (int first = 0; first + s.count <= s.first; ++first) {
      int i = 0;
      while (i < s.count && to.body.terms[first + i] == to.body.terms[s.first + i]) ++i;
      if (i < s.count) continue;
      if (s.first + s.count == to.body.term_count) {
        for (int k = s.first; k < to.body.term_count; ++k) to.body.terms[k] = {};
        to.body.term_count = s.first;
      }
      s.first = std::int16_t(first);
      break;
    }
    if (s.count == 0) s.first = 0;
    return s;
  }
};

}  // namespace ago::expression::detail
