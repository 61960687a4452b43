// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of tracing during constant evaluation: nodes, edges, parameters and the first fault.
#pragma once

#include <ago/ir/graph.hpp>
#include <ago/ir/growing.hpp>
#include <ago/ir/parameter.hpp>
#include <ago/tracing/naming.hpp>

namespace ago::tracing {

/// Extents, counts and offsets are ints.
inline constexpr long int_limit = 2147483647;

/// a * b for positive factors up to int_limit + 1; at most int_limit + 1.
constexpr long limited_product(long a, long b) { return a > int_limit / b ? int_limit + 1 : a * b; }
/// The number of elements of a value; at most int_limit + 1.
constexpr long limited_count(shape const& s) {
  return limited_product(limited_product(limited_product(s.n, s.h), s.w), s.c);
}

/// The object that stands for an expression in networks recorded at run time. It lives as long as the program.
inline expression::index_expression const* kept(expression::index_expression const& e) {
  struct link {
    expression::index_expression value;
    link* next;
  };
  static link* all = nullptr;
  link* const first = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
  for (link* l = first; l; l = l->next)
    if (l->value == e) return &l->value;
  link* const added = new link{e, first};
  // If two threads add the same one, there are two, which differ like those of two networks.
  while (!__atomic_compare_exchange_n(&all, &added->next, added, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
  return &added->value;
}

/// The index expressions of a network. As with names, a constant cannot point to what its own evaluation creates:
/// earlier traces count and list the expressions, the last one refers to the list.
struct expression_list {
  ir::growing<expression::index_expression> all;
  expression::index_expression const* const* listed{};  ///< null: not yet

  /// Null if this trace does not refer to a list.
  constexpr expression::index_expression const* find_or_add(expression::index_expression const& e) {
    if (!__builtin_is_constant_evaluated()) return kept(e);
    int i = 0;
    while (i < all.size && !(all[i] == e)) ++i;
    if (all.capacity == 0) all.reserve(4);  // an expression has 2.4 KB, and most networks have few
    if (i == all.size) all.push(e);
    return listed ? listed[i] : nullptr;
  }
};

/// A network while it is recorded.
struct recorder {
  ir::growing<ir::node> nodes;
  ir::growing<int> edges, outputs;
  ir::growing<parameter> parameters;
  expression_list expressions;
  int inputs{};
  int layers{};   ///< number of layers recorded so far
  long floats{};  ///< floats of their parameters
  naming names;
  ir::diagnostic bad{};

  constexpr void complain(ir::diagnostic const& d) {
    if (bad.what == ir::fault::none) bad = d;
  }
};

}  // namespace ago::tracing
