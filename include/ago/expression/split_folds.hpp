// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The normal form of an operator: folds are the roots of expressions, and what follows them is another expression.
#pragma once

#include <ago/expression/canonical.hpp>
#include <ago/expression/facts.hpp>

#include <cstdint>

namespace ago::expression {

namespace detail {

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
};

/// Copies what a node of an expression depends on into an expression of its own.
struct excerpt {
  static constexpr int nodes = decltype(index_expression::body)::node_capacity;

  index_expression const& from;
  std::int16_t const* values;   ///< that operands of `from` are
  stand_in const* instead;      ///< of nodes of `from`
  index_expression& to;
  std::int16_t* reads;          ///< the values that operands of `to` are
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
    if (a.operand >= 0)
      c.operand = std::int16_t(into.add_operand(reads, values[a.operand], from.operands[a.operand]));
    for (int d = 0; d < a.rank; ++d)
      if (a.at[d].node >= 0) c.at[d].node = std::int16_t(copy(a.at[d].node));
      else c.at[d].sum = copy(a.at[d].sum);
    return into.add(c);
  }
  /// An element of the value that stands for a node.
  constexpr int read(stand_in const& s) {
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
  /// A sum whose elements are multiplied by a number.
  constexpr void take_scaled(int sum, float factor, unsigned axes) {
    begin(axes);
    node c = from.body.nodes[sum];
    node product{node_kind::multiply, {std::int16_t(copy(c.operand[0])), -1, -1}};
    product.operand[1] =
        std::int16_t(into.add(node{node_kind::number, {-1, -1, -1}, __builtin_bit_cast(std::uint32_t, factor)}));
    c.operand[0] = std::int16_t(into.add(product));
    c.bits = copied_axes(c.bits);
    into.add(c);
  }
};

/// A fold times a number, or divided by one.
struct scaled_fold {
  int fold{-1};  ///< the node; -1: it is none
  float factor{1};
};
constexpr scaled_fold scaled_fold_of(index_expression const& e, int n) {
  node const& x = e.body.nodes[n];
  if (x.kind != node_kind::multiply && x.kind != node_kind::divide) return {};
  for (int i = 0; i < (x.kind == node_kind::multiply ? 2 : 1); ++i) {
    node const &a = e.body.nodes[x.operand[i]], &b = e.body.nodes[x.operand[1 - i]];
    if (is_fold(a.kind) && b.kind == node_kind::number)
      return {x.operand[i], x.kind == node_kind::multiply ? b.number() : float(1. / double(b.number()))};
  }
  return {};
}

template <class Accept>
struct fold_splitter {
  definition& to;
  Accept const& accept;
  int line{};

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

  /// Adds an expression, unless it is there already; returns its value.
  constexpr int emit(index_expression const& e, std::int16_t const* reads) {
    for (int i = 0; i < to.expression_count; ++i) {
      index_expression const& other = to.expressions[i];
      bool same = other.body.node_count == e.body.node_count && other.operand_count == e.operand_count &&
                  other.at_root() == e.at_root();
      for (int k = 0; same && k < e.operand_count; ++k) same = to.reads[i][k] == reads[k];
      if (same && other == e) return to.makes[i];
    }
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

  /// Adds an expression whose operands are the values `reads` in normal form; returns its value.
  constexpr int add(index_expression const& e, std::int16_t const* reads) {
    constexpr int nodes = decltype(index_expression::body)::node_capacity;
    int last = -1, readers[nodes]{};  // the last fold but the root
    for (int n = 0; n < e.body.node_count; ++n) {
      if (n < e.root() && is_fold(e.body.nodes[n].kind)) last = n;
      for_each_node_read(e.body, e.body.nodes[n], [&](int k) { ++readers[k]; });
    }
    if (last < 0 || accept(e, reads, to)) return emit(e, reads);
    stand_in instead[nodes]{};
    free_axes const free(e);
    if (scaled_fold const s = scaled_fold_of(e, e.root());
        s.fold >= 0 && free.of[s.fold] == e.result_axes() && is_sum_of_products(e, s.fold))
      return part(e, reads, instead, s.fold, e.result_axes(), s.factor);
    for (int n = 0; n < e.root(); ++n) {
      if (!is_fold(e.body.nodes[n].kind) || (free.of[n] & ~e.result_axes())) continue;
      int const scaled = readers[n] == 1 ? reader_that_scales(e, n) : -1;
      int const unit = scaled >= 0 && scaled < e.root() ? scaled : n;
      instead[unit] = {true, part(e, reads, instead, unit, free.of[n]), free.of[n]};
    }
    return part(e, reads, instead, e.root(), e.result_axes());
  }

 private:
  static constexpr int reader_that_scales(index_expression const& e, int fold) {
    for (int n = fold + 1; n < e.body.node_count; ++n)
      if (scaled_fold_of(e, n).fold == fold) return n;
    return -1;
  }
  /// Adds node n of e, a fold times `factor`, as an expression with the given axes.
  constexpr int part(index_expression const& e, std::int16_t const* values, stand_in const* instead, int n,
                     unsigned axes, float factor = 1) {
    index_expression made;
    std::int16_t reads[index_expression::max_operands]{};
    excerpt x{e, values, instead, made, reads};
    if (factor != 1) x.take_scaled(n, factor, axes);
    else x.take(n, axes);
    if (x.into.exceeded) {
      complain(x.into.exceeded);
      return 0;
    }
    // Folds that are left at the end depend on axes of other folds.
    bool const is_left = n == e.root() && factor == 1;
    return is_left ? emit(made, reads) : add(made, reads);
  }
};

/// Nothing stays as it is.
struct accept_none {
  constexpr bool operator()(index_expression const&, std::int16_t const*, definition const&) const { return false; }
};

}  // namespace detail

/// The same operator in normal form: each fold that does not depend on the axes of another fold is an expression of its
/// own, whose result has the axes that it depends on; what remains reads these. Folds of one kind with nothing between
/// are merged, equal expressions are made once, and a number that multiplies a sum of products multiplies its elements.
/// An expression for which `accept(expression, values of its operands, operator so far)` holds stays as it is; a fold
/// times a number is asked for first. Inputs, parameters and results keep their order.
template <class Accept = detail::accept_none>
constexpr definition split_folds(definition const& d, Accept const& accept = {}) {
  definition r;
  r.name = d.name;
  r.input_count = d.input_count;
  r.result_count = d.result_count;
  r.bad = d.bad;
  if (d.bad.what != fault::none) return r;
  std::int16_t moved_to[definition::max_values]{};
  for (int v = 0; v < d.value_count; ++v) {
    if (d.values[v].role == value_role::computed) continue;
    moved_to[v] = std::int16_t(r.value_count);
    r.values[r.value_count++] = d.values[v];
  }
  detail::fold_splitter<Accept> splitter{r, accept};
  for (int i = 0; i < d.expression_count && r.bad.what == fault::none; ++i) {
    std::int16_t reads[index_expression::max_operands]{};
    for (int k = 0; k < d.expressions[i].operand_count; ++k) reads[k] = moved_to[d.reads[i][k]];
    moved_to[d.makes[i]] = std::int16_t(splitter.add(d.expressions[i], reads));
  }
  for (int i = 0; i < d.result_count; ++i) r.results[i] = moved_to[d.results[i]];
  return r;
}

}  // namespace ago::expression
