// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of an expression as nodes of another one, whose loops are others.
#pragma once

#include <ago/expression/arithmetic_writer.hpp>
#include <ago/expression/axis_values.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// Reads elements where `from` reads them, as far as they are inside: where the new loops lead outside of an operand
/// that is not padded, 0 is read.
struct rewriter {
  static constexpr int nodes = decltype(index_expression::body)::node_capacity;

  index_expression const& from;
  std::int16_t const* values;  ///< that operands of `from` are
  int made;                    ///< the value that `from` computes; -1: not known
  axis_values& axes;
  std::int16_t* reads;          ///< the values that operands of the new expression are
  std::int16_t moved[nodes]{};  ///< plus one

  constexpr int copy(int n) {
    if (moved[n] == 0) moved[n] = std::int16_t(copied(n) + 1);
    return moved[n] - 1;
  }
  /// An element of `value` at some axes of `from`.
  constexpr int read(int value, unsigned at) {
    element_access c;
    extents of;
    for (int x = 0; x < from.axis_count; ++x)
      if (at >> x & 1) {
        of.of[of.rank] = from.extent[x];
        c.at[of.rank++].sum = axes.copy_axis(x);
      }
    c.rank = std::int16_t(of.rank);
    return read(c, value, of);
  }
  constexpr int position(affine_sum const& s) {
    element_access c{.rank = 1};
    c.at[0].sum = s;
    return axes.into.add(node{node_kind::position, {std::int16_t(axes.into.add(c)), -1, -1}});
  }

  /// As indices that are values are, where the operand is not padded.
  constexpr int clamped(int n, int extent) {
    arithmetic_writer const write{axes.into};
    int const not_negative = write.make(node_kind::maximum, n, write.number(0));
    return write.make(node_kind::minimum, not_negative, write.number(extent - 1));
  }

 private:
  constexpr int read(element_access c, int value, extents const& of) {
    c.operand = std::int16_t(axes.into.add_operand(reads, value, of));
    bool leaves = false;
    for (int d = 0; d < c.rank && !c.padded; ++d) {
      if (c.at[d].node >= 0) continue;
      range const r = axes.range_of(c.at[d].sum);
      leaves |= r.lower < 0 || r.upper >= of.of[d];
    }
    for (int d = 0; d < c.rank && leaves; ++d)
      if (c.at[d].node >= 0) c.at[d].node = std::int16_t(clamped(c.at[d].node, of.of[d]));
    c.padded |= leaves;
    return axes.into.add(node{node_kind::read, {std::int16_t(axes.into.add(c)), -1, -1}});
  }
  constexpr int copied(int n) {
    node c = from.body.nodes[n];
    if (n == from.root() && made >= 0) return read(made, from.result_axes());
    if (c.kind == node_kind::number) return axes.into.add(c);
    if (c.kind == node_kind::position) return position(axes.copy(from.body.accesses[c.operand[0]].at[0].sum));
    if (c.kind == node_kind::read) {
      element_access a = from.body.accesses[c.operand[0]];
      for (int d = 0; d < a.rank; ++d)
        if (a.at[d].node >= 0) a.at[d].node = std::int16_t(copy(a.at[d].node));
        else a.at[d].sum = axes.copy(a.at[d].sum);
      return read(a, values[a.operand], from.operands[a.operand]);
    }
    for (int i = 0; i < operands_of(c.kind); ++i) c.operand[i] = std::int16_t(copy(c.operand[i]));
    if (c.kind == node_kind::less) return arithmetic_writer{axes.into}.less(c.operand[0], c.operand[1]);
    return axes.into.add(c);
  }
};

}  // namespace ago::expression::detail
