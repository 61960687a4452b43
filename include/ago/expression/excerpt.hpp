// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of an index expression as an expression of its own.
#pragma once

#include <ago/expression/canonical.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// The axes that each node depends on and that no fold below it folds.
struct free_axes {
  unsigned of[decltype(index_expression::body)::node_capacity]{};

  constexpr explicit free_axes(index_expression const& e) {
    for (int n = 0; n < e.body.node_count; ++n) {
      node const& x = e.body.nodes[n];
      if (is_leaf(x.kind) && x.kind != node_kind::number) of[n] = axes_of(e.body, e.body.accesses[x.operand[0]]);
      for_each_node_read(e.body, x, [&](int k) { of[n] |= of[k]; });
      if (is_fold(x.kind)) of[n] &= ~x.bits;
    }
  }
};

/// A value that stands for a node: read at the axes that the node depends on. (Zero if unused: g++ 12 evaluates arrays
/// of other defaults wrongly at run time if it has also evaluated them in a constant expression.)
struct stand_in {
  bool is_used{};
  int value{};
  unsigned axes{};
  bool is_at_access{};  ///< read where an access reads its operand instead
  int access{};
  std::uint32_t pad_bits{};  ///< what is read outside then
};

/// Copies what a node of an expression depends on into an expression of its own.
struct excerpt {
  static constexpr int nodes = decltype(index_expression::body)::node_capacity;

  index_expression const& from;
  std::int16_t const* values;  ///< that operands of `from` are
  stand_in const* instead;     ///< of nodes of `from`
  index_expression& to;
  std::int16_t* reads;  ///< the values that operands of `to` are
  canonical into{to};
  std::int16_t axis_of[max_axes]{};  ///< plus one; 0: not yet seen
  std::int16_t moved[nodes]{};       ///< plus one

  constexpr int add_axis(int x) {
    if (axis_of[x] == 0) {
      to.extent[to.axis_count] = from.extent[x];
      axis_of[x] = ++to.axis_count;
    }
    return axis_of[x] - 1;
  }
  constexpr affine_sum copy(affine_sum const& s) {
    term terms[canonical::max_terms]{};
    for (int i = 0; i < s.count; ++i) {
      terms[i] = from.body.terms[s.first + i];
      int const atom = terms[i].atom;
      terms[i].atom =
          std::int16_t(atom < max_axes ? add_axis(atom) : max_axes + copy(from.body.quotients[atom - max_axes]));
    }
    return into.add(terms, s.count, s.constant);
  }
  constexpr int copy(quotient const& q) { return into.add(quotient{copy(q.of), q.divisor, q.modulus}); }
  constexpr int copy(element_access const& a) {
    element_access c = a;
    if (a.operand >= 0) c.operand = std::int16_t(into.add_operand(reads, values[a.operand], from.operands[a.operand]));
    for (int d = 0; d < a.rank; ++d)
      if (a.at[d].node >= 0) c.at[d].node = std::int16_t(copy(a.at[d].node));
      else c.at[d].sum = copy(a.at[d].sum);
    return into.add(c);
  }
  /// An element of the value that stands for a node.
  constexpr int read(stand_in const& s) {
    if (s.is_at_access) {
      element_access c = from.body.accesses[s.access];
      extents const& of = from.operands[c.operand];
      c.pad_bits = s.pad_bits;
      return read(c, s.value, of);
    }
    element_access c;
    extents of;
    for (int x = 0; x < from.axis_count; ++x)
      if (s.axes >> x & 1) {
        term const t{std::int16_t(add_axis(x)), 1};
        of.of[of.rank] = from.extent[x];
        c.at[of.rank++].sum = into.add(&t, 1, 0);
      }
    if (of.rank == 0) of = extents(1);
    c.rank = std::int16_t(of.rank);
    c.operand = std::int16_t(into.add_operand(reads, s.value, of));
    return into.add(node{node_kind::read, {std::int16_t(into.add(c)), -1, -1}});
  }
  /// An element of `value` where an access of `from` reads.
  constexpr int read(element_access c, int value, extents const& of) {
    c.operand = std::int16_t(into.add_operand(reads, value, of));
    for (int d = 0; d < c.rank; ++d) c.at[d].sum = copy(c.at[d].sum);
    return into.add(node{node_kind::read, {std::int16_t(into.add(c)), -1, -1}});
  }

  constexpr int copy(int n) {
    if (moved[n]) return moved[n] - 1;
    int place = 0;
    if (instead[n].is_used) {
      place = read(instead[n]);
    } else {
      node c = from.body.nodes[n];
      if (is_fold(c.kind)) {
        // A sum of sums is one sum.
        for (int below = c.operand[0]; from.body.nodes[below].kind == c.kind && !instead[below].is_used;
             below = c.operand[0]) {
          c.bits |= from.body.nodes[below].bits;
          c.operand[0] = from.body.nodes[below].operand[0];
        }
      }
      if (is_leaf(c.kind)) {
        if (c.kind != node_kind::number) c.operand[0] = std::int16_t(copy(from.body.accesses[c.operand[0]]));
      } else {
        for (int i = 0; i < operands_of(c.kind); ++i) c.operand[i] = std::int16_t(copy(c.operand[i]));
      }
      if (is_fold(c.kind)) c.bits = copied_axes(c.bits);
      place = into.add(c);
    }
    moved[n] = std::int16_t(place + 1);
    return place;
  }
  constexpr unsigned copied_axes(unsigned axes) {
    unsigned r = 0;
    for (int x = 0; x < from.axis_count; ++x)
      if (axes >> x & 1) r |= 1u << add_axis(x);
    return r;
  }

  /// The axes of the result; one of extent 1 if there are none.
  constexpr void begin(unsigned axes) {
    for (int x = 0; x < from.axis_count; ++x)
      if (axes >> x & 1) to.result.of[to.result.rank++] = to.extent[add_axis(x)];
    if (to.result.rank > 0) return;
    to.result = extents(1);
    to.extent[to.axis_count++] = 1;
  }
  /// Node n as the root.
  constexpr void take(int n, unsigned axes) {
    begin(axes);
    copy(n);
  }
  /// Node n, a function of one element, for each element of the operand.
  constexpr void take_on_operand(int n, int access) {
    element_access c{.operand = 0, .rank = from.body.accesses[access].rank};
    int const operand = from.body.accesses[access].operand;
    to.result = from.operands[operand];
    for (int d = 0; d < c.rank; ++d) {
      to.extent[d] = to.result.of[d];
      term const t{std::int16_t(d), 1};
      c.at[d].sum = into.add(&t, 1, 0);
    }
    to.axis_count = c.rank;
    into.add_operand(reads, values[operand], to.result);
    for (int k = 0; k < n; ++k)
      if (from.body.nodes[k].kind == node_kind::read && from.body.nodes[k].operand[0] == access)
        moved[k] = std::int16_t(into.add(node{node_kind::read, {std::int16_t(into.add(c)), -1, -1}}) + 1);
    copy(n);
  }
  /// A factor of a sum, or what stands for it.
  constexpr int factor(int n, stand_in const& s) { return s.is_used ? read(s) : copy(n); }
  constexpr int multiplied(int a, int b) {
    return into.add(node{node_kind::multiply, {std::int16_t(a), std::int16_t(b), -1}});
  }
  constexpr int number(float x) {
    return into.add(node{node_kind::number, {-1, -1, -1}, __builtin_bit_cast(std::uint32_t, x)});
  }
  /// A sum whose elements are multiplied by a number.
  constexpr void take_scaled(int sum, float factor, unsigned axes) {
    begin(axes);
    node c = from.body.nodes[sum];
    int const unscaled = copy(c.operand[0]);
    c.operand[0] = std::int16_t(multiplied(unscaled, number(factor)));
    c.bits = copied_axes(c.bits);
    into.add(c);
  }
};

}  // namespace ago::expression::detail
