// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator while it is traced: nodes as they are written, and their transfer into index expressions.
#pragma once

#include <ago/expression/canonical.hpp>
#include <ago/expression/variables.hpp>

namespace ago::expression {

/// Nodes of all expressions as they are recorded. Atoms are numbers of variables; a quotient is max_axes + its number.
struct recorder {
  static constexpr int quotient_base = 64;
  using pool_type = pool<320, 48, 64, 160>;

  pool_type all{};
  variable_table variables{};
  int line_of_access[pool_type::access_capacity]{};
  definition made{};

  constexpr void complain(diagnostic const& d) {
    if (made.bad.what == fault::none) {
      made.bad = d;
      if (made.bad.expression < 0) made.bad.expression = made.expression_count;
    }
  }
  /// Whether `count` of `capacity` elements leave room for one more.
  constexpr bool has_room(int count, int capacity, int line) {
    if (count < capacity) return true;
    complain({.what = fault::too_large, .line = line, .expected = capacity, .actual = count + 1});
    return false;
  }

  constexpr int number_of(var* v, int line) {
    if (int const known = variables.find(*v); known >= 0) return known;
    if (v->is_given() && v->given() <= 0)
      complain({.what = fault::extent_must_be_positive, .line = line, .expected = 1, .actual = v->given()});
    return has_room(variables.count, variable_table::capacity, line) ? variables.add(*v) : 0;
  }

  constexpr int push(node const& n, int line = 0) {
    if (!has_room(all.node_count, pool_type::node_capacity, line)) return all.node_count - 1;
    all.nodes[all.node_count] = n;
    return all.node_count++;
  }
  constexpr int number(double x) {
    return push({node_kind::number, {-1, -1, -1}, __builtin_bit_cast(std::uint32_t, float(x))});
  }

  constexpr affine_sum record(plain_affine const& a, int line) {
    affine_sum s{all.term_count, 0, a.constant};
    for (int i = 0; i < a.count; ++i)
      if (a.terms[i].coefficient != 0 && has_room(all.term_count, pool_type::term_capacity, line)) {
        all.terms[all.term_count++] = {std::int16_t(number_of(a.terms[i].of, line)), a.terms[i].coefficient};
        ++s.count;
      }
    return s;
  }
  constexpr affine_sum record(affine const& a, int line) {
    if (a.overflows || a.plain.overflows)
      complain({.what = fault::index_too_complex, .line = line, .expected = max_rank, .actual = max_rank + 1});
    if (a.bad_divisor <= 0)
      complain({.what = fault::divisor_must_be_positive, .line = line, .expected = 1, .actual = a.bad_divisor});
    int const first_quotient = all.quotient_count;
    for (int i = 0; i < a.part_count; ++i)
      if (has_room(all.quotient_count, pool_type::quotient_capacity, line)) {
        all.quotients[all.quotient_count] = {record(a.parts[i].of, line), a.parts[i].divisor, a.parts[i].modulus};
        ++all.quotient_count;
      }
    affine_sum s = record(a.plain, line);
    for (int i = 0; first_quotient + i < all.quotient_count; ++i)
      if (has_room(all.term_count, pool_type::term_capacity, line)) {
        all.terms[all.term_count++] = {std::int16_t(quotient_base + first_quotient + i), a.parts[i].coefficient};
        ++s.count;
      }
    return s;
  }

  /// Makes the access the last node.
  constexpr int record(element_access const& a, node_kind kind, int line) {
    if (!has_room(all.access_count, pool_type::access_capacity, line)) return all.node_count - 1;
    line_of_access[all.access_count] = line;
    all.accesses[all.access_count] = a;
    return push({kind, {all.access_count++, -1, -1}}, line);
  }

  /// Adds a value of the operator, and returns its number.
  constexpr int add(value const& v, int line) {
    if (!has_room(made.value_count, definition::max_values, line)) return 0;
    made.values[made.value_count] = v;
    return made.value_count++;
  }
};

namespace detail {

/// Copies what the root of an expression depends on, in canonical form: axes renumbered, terms sorted, equal parts
/// united.
struct transfer {
  static constexpr int nodes_of_expression = decltype(index_expression::body)::node_capacity,
                       accesses_of_expression = decltype(index_expression::body)::access_capacity;

  recorder& from;
  index_expression& to;
  canonical into;
  std::int16_t* reads;  ///< the values that operands of `to` are
  int line;
  std::int16_t axis_of[variable_table::capacity]{};          ///< plus one; 0: not yet seen
  std::int16_t moved[recorder::pool_type::node_capacity]{};  ///< plus one
  unsigned free[nodes_of_expression]{}, reduced[nodes_of_expression]{};
  int line_of[accesses_of_expression]{};

  constexpr transfer(recorder& r, index_expression& e, std::int16_t* values, int at)
      : from(r), to(e), into{e}, reads(values), line(at) {}

  constexpr int add_axis(int variable) {
    if (axis_of[variable] == 0) {
      if (!from.has_room(to.axis_count, max_axes, line)) return 0;
      to.extent[to.axis_count] = from.variables.given[variable];
      axis_of[variable] = ++to.axis_count;
    }
    return axis_of[variable] - 1;
  }
  /// Reports what did not fit.
  constexpr auto checked(auto added) {
    if (into.exceeded) from.has_room(into.exceeded, into.exceeded, line);
    return added;
  }

  constexpr affine_sum copy(affine_sum s) {
    static_assert(max_rank + affine::max_parts <= canonical::max_terms);
    term terms[canonical::max_terms]{};
    for (int i = 0; i < s.count; ++i) {
      terms[i] = from.all.terms[s.first + i];
      terms[i].atom = std::int16_t(terms[i].atom < recorder::quotient_base
                                       ? add_axis(terms[i].atom)
                                       : max_axes + copy(from.all.quotients[terms[i].atom - recorder::quotient_base]));
    }
    return checked(into.add(terms, s.count, s.constant));
  }
  constexpr int copy(quotient const& q) { return checked(into.add(quotient{copy(q.of), q.divisor, q.modulus})); }
  constexpr int operand_for(int value) {
    return checked(into.add_operand(reads, value, from.made.values[value].extents));
  }
  constexpr int copy(element_access const& a, int at) {
    element_access c{.operand = std::int16_t(a.operand < 0 ? -1 : operand_for(a.operand)),
                     .rank = a.rank,
                     .padded = a.padded,
                     .pad_bits = a.pad_bits};
    for (int d = 0; d < a.rank; ++d) {
      if (a.at[d].node >= 0) c.at[d].node = std::int16_t(copy(a.at[d].node));
      else c.at[d].sum = copy(a.at[d].sum);
    }
    int const before = to.body.access_count, place = checked(into.add(c));
    if (to.body.access_count > before) line_of[place] = at;
    return place;
  }

  constexpr int copy(int n) {
    if (moved[n]) return moved[n] - 1;
    node const source = from.all.nodes[n];
    node c{source.kind, {-1, -1, -1}, source.bits};
    unsigned is_free = 0, is_reduced = 0;
    if (is_leaf(source.kind)) {
      if (source.kind != node_kind::number) {
        int const at = source.operand[0];
        c.operand[0] = std::int16_t(copy(from.all.accesses[at], from.line_of_access[at]));
        element_access const& a = to.body.accesses[c.operand[0]];
        is_free = axes_of(to.body, a);
        for_each_node_read(to.body, c, [&](int k) { is_free |= free[k], is_reduced |= reduced[k]; });
      }
    } else {
      for (int i = 0; i < operands_of(source.kind); ++i) {
        int const k = copy(source.operand[i]);
        c.operand[i] = std::int16_t(k);
        is_free |= free[k];
        is_reduced |= reduced[k];
      }
    }
    if (is_fold(source.kind)) {
      c.bits = 0;
      for (int v = 0; v < from.variables.count; ++v)
        if (source.bits >> v & 1) c.bits |= 1u << add_axis(v);
      if (c.bits & (is_reduced | to.result_axes()))
        from.complain({.what = fault::variable_reduced_twice, .line = line, .expected = 1, .actual = 2});
      is_free &= ~c.bits;
      is_reduced |= c.bits;
    }
    int const before = to.body.node_count, place = checked(into.add(c));
    if (to.body.node_count > before) {
      free[place] = is_free;
      reduced[place] = is_reduced;
    }
    moved[n] = std::int16_t(place + 1);
    return place;
  }

  /// The whole expression, with node `root` of the recorder as its root.
  constexpr void copy_all(var* const* result, int rank, int root) {
    to.result.rank = rank;
    for (int d = 0; d < rank; ++d) {
      int const variable = from.number_of(result[d], line);
      if (axis_of[variable])
        from.complain({.what = fault::variable_listed_twice, .dimension = d, .line = line, .expected = 1, .actual = 2});
      else add_axis(variable);
    }
    to.result.rank = to.axis_count;
    int const last = copy(root);
    unsigned const left = free[last] & ~to.result_axes();
    if (left)
      from.complain({.what = fault::variable_is_free, .line = line, .expected = 0, .actual = __builtin_popcount(left)});
  }
};

}  // namespace detail

}  // namespace ago::expression
