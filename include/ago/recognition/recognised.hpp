// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of the graph that compute an index expression, as a list.
#pragma once

#include <ago/expression/index_expression.hpp>
#include <ago/ir/axis.hpp>
#include <ago/ir/graph.hpp>
#include <ago/operators/expand.hpp>

namespace ago::recognition {

/// What a recognised node reads: an operand of the expression, or the value of an earlier node, in four axes. If the
/// value has other extents, it has to be reshaped.
struct recognised_operand {
  int number{-1};  ///< -1: nothing
  bool is_node{};  ///< an earlier node of the list; otherwise an operand of the expression
  shape as{};

  constexpr bool operator==(recognised_operand const&) const = default;
};

/// A node as a layer would record it, but for its operands and parameters, which are given apart.
struct recognised_node {
  node made{};
  recognised_operand operands[2]{};
  int operand_count{};
  // Operands of the expression that are its parameters; -1: none.
  int weight{-1}, shift{-1};
  int norm[4]{-1, -1, -1, -1};  ///< gamma, beta, mean, variance; they must follow one another in the parameters
};

/// Nodes that compute an expression, in order; the value of the last one is the result. None: there are no such nodes.
struct recognised_nodes {
  static constexpr int capacity = 16;

  recognised_node nodes[capacity]{};
  int count{};

  constexpr explicit operator bool() const { return count > 0; }
};

/// The four axes of a value of an expression: the last three, and the product of those before.
constexpr shape shape_of(expression::extents const& e) {
  shape s;
  for (int d = 0; d < e.rank; ++d) ir::extent_along(s, e.rank - d < 4 ? 4 - e.rank + d : 0) *= e.of[d];
  return s;
}

/// A list of nodes while it is made. After an error, it is empty in the end.
struct recognition_list {
  recognised_nodes& to;
  bool failed{};

  constexpr recognised_operand fail() {
    failed = true;
    return {};
  }
  /// Appends a node, unless the list has an equal one, and returns its value.
  constexpr recognised_operand append(recognised_node const& n) {
    for (int i = 0; i < to.count; ++i)
      if (is_same(to.nodes[i], n)) return {i, true, n.made.out};
    if (to.count == recognised_nodes::capacity) return fail();
    to.nodes[to.count] = n;
    return {to.count++, true, n.made.out};
  }
  constexpr recognised_operand append(node const& n, recognised_operand const& x) {
    return append({.made = n, .operands = {x}, .operand_count = 1});
  }
  constexpr recognised_operand append(node const& n, recognised_operand const& x, recognised_operand const& y) {
    return append({.made = n, .operands = {x, y}, .operand_count = 2});
  }
  constexpr recognised_operand expanded(recognised_operand const& x, shape const& whole) {
    return x.as == whole ? x : append({.kind = op::expand, .out = whole}, x);
  }
  /// As record_binary does.
  constexpr recognised_operand binary(op kind, recognised_operand const& a, recognised_operand const& b) {
    shape const whole = tracing::common_shape(a.as, b.as);
    bool const swapped = a.as != whole && (b.as == whole || a.as.count() < b.as.count());
    recognised_operand const larger = swapped ? b : a, other = swapped ? a : b;
    node n{.kind = kind, .out = whole};
    n.exchanged = swapped && !commutes(kind);
    recognised_operand const first = expanded(larger, whole);
    shape const o = other.as;
    return append(n, first,
                  tracing::is_read_in_place(o, whole) ? other : expanded(other, {o.n, whole.h, whole.w, o.c}));
  }

 private:
  static constexpr bool is_same(recognised_node const& a, recognised_node const& b) {
    bool same = a.operand_count == b.operand_count && a.operands[0] == b.operands[0] &&
                a.operands[1] == b.operands[1] && a.weight == b.weight && a.shift == b.shift;
    for (int i = 0; i < 4; ++i) same = same && a.norm[i] == b.norm[i];
    return same && same_operator(a.made, b.made);
  }
};

}  // namespace ago::recognition
