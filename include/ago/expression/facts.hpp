// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from an index expression alone: how it reads its operands, and the classes that policies ask for.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression {

/// How the elements of the result, or the points of a fold, read an operand. Axes and dimensions of one element do not
/// count.
enum class reading : std::uint8_t {
  elementwise,  ///< at the result's indices, in order
  broadcast,    ///< at some of the result's indices, in order
  permuted,     ///< at all of the result's indices, in another order
  folded,       ///< each dimension at one index, some of which are folded
  window,       ///< a dimension at a sum with an index of the result and a folded one
  other,        ///< strides, offsets, quotients, parts, padding
  dependent,    ///< at indices that are values
};

/// TVM's kinds of operators (relay's OpPatternKind).
enum class kind : std::uint8_t { elementwise, broadcast, injective, reduction, fusable_out, opaque };

/// Apollo's types (section 3.3, Definitions 1 to 4), with those that its rules name.
enum class dataflow : std::uint8_t { elementwise, broadcast, reduction, transpose, matmul, conv, opaque };

constexpr bool has_fold(index_expression const& e) {
  for (int n = 0; n < e.body.node_count; ++n)
    if (is_fold(e.body.nodes[n].kind)) return true;
  return false;
}

/// The distinct accesses among the factors of a product.
struct product_factors {
  static constexpr int most = 16;  ///< shared subexpressions could have far more
  std::int16_t accesses[most]{};
  int count{}, seen{};
  int others{};    ///< factors that are not just an element: functions, sums, those beyond `most`
  float scale{1};  ///< the product of the numbers

  constexpr void add(index_expression const& e, int n) {
    node const& x = e.body.nodes[n];
    if (x.kind != node_kind::multiply && ++seen > most) others = 1;
    if (seen > most) return;
    if (x.kind == node_kind::multiply) {
      add(e, x.operand[0]);
      add(e, x.operand[1]);
    } else if (x.kind == node_kind::read) {
      accesses[count++] = x.operand[0];
    } else if (x.kind == node_kind::number) {
      scale *= x.number();
    } else {
      ++others;
    }
  }
  /// How many different elements are multiplied.
  constexpr int distinct() const {
    int r = 0;
    for (int i = 0; i < count; ++i) {
      bool first = true;
      for (int k = 0; k < i; ++k) first &= accesses[k] != accesses[i];
      r += first;
    }
    return r;
  }
};

namespace detail {

/// The axes that all folds reduce.
constexpr unsigned folded_axes(index_expression const& e) {
  unsigned r = 0;
  for (int n = 0; n < e.body.node_count; ++n)
    if (is_fold(e.body.nodes[n].kind)) r |= e.body.nodes[n].bits;
  return r;
}

/// Is a dimension indexed by a sum with both an axis of `a` and one of `b`, of more than one element?
constexpr bool mixes(index_expression const& e, element_access const& r, unsigned a, unsigned b) {
  for (int d = 0; d < r.rank; ++d) {
    unsigned const axes = axes_of(e.body, r.at[d].sum);
    if ((axes & a) && (axes & b)) return true;
  }
  return false;
}

}  // namespace detail

/// Is node n a sum over the product of two different elements or more?
constexpr bool is_sum_of_products(index_expression const& e, int n) {
  if (e.body.nodes[n].kind != node_kind::sum) return false;
  product_factors f;
  f.add(e, e.body.nodes[n].operand[0]);
  return f.distinct() >= 2;
}

/// AGO's complex operators (section II): convolutions and matrix products of any kind.
constexpr bool is_complex(index_expression const& e) {
  for (int n = 0; n < e.body.node_count; ++n)
    if (is_sum_of_products(e, n)) return true;
  return false;
}

/// How access number `a` reads its operand.
constexpr reading reading_of(index_expression const& e, int a) {
  element_access const& r = e.body.accesses[a];
  unsigned const result = e.result_axes(), folded = detail::folded_axes(e);
  if (r.is_dependent()) return reading::dependent;
  if (detail::mixes(e, r, result, folded)) return reading::window;
  unsigned seen = 0;
  int last = -1;
  bool in_order = true;
  for (int d = 0; d < r.rank; ++d) {
    if (e.operands[r.operand].of[d] == 1) continue;
    int const x = plain_axis(e.body, r.at[d]);
    if (x < 0 || (seen >> x & 1) || e.extent[x] != e.operands[r.operand].of[d]) return reading::other;
    seen |= 1u << x;
    in_order &= x > last;
    last = x;
  }
  if (seen & folded) return reading::folded;
  unsigned all = 0;
  for (int x = 0; x < e.result.rank; ++x)
    if (e.extent[x] > 1) all |= 1u << x;
  if (!in_order) return (seen & all) == all ? reading::permuted : reading::other;
  return (seen & all) == all ? reading::elementwise : reading::broadcast;
}

/// Is each element of the result an element of an operand (or what is read outside of it)?
constexpr bool copies(index_expression const& e) { return e.at_root().kind == node_kind::read; }
/// Likewise, and nothing else: no values from outside of the operand.
constexpr bool moves(index_expression const& e) { return copies(e) && !e.body.accesses[e.at_root().operand[0]].padded; }

/// Does an element of the result need only the element of operand i at its own place, whatever it needs of others?
constexpr bool reads_own_element(index_expression const& e, int i) {
  if (has_fold(e)) return false;
  for (int a = 0; a < e.body.access_count; ++a)
    if (e.body.accesses[a].operand == i && reading_of(e, a) != reading::elementwise) return false;
  return true;
}

/// Can it be part of an epilogue: does element i of the result depend on element i of an operand, and on operands that
/// are broadcast to it?
constexpr bool is_elementwise(index_expression const& e) {
  if (has_fold(e) || copies(e)) return false;
  bool follows = false;
  for (int a = 0; a < e.body.access_count; ++a) {
    if (e.body.accesses[a].operand < 0) continue;
    reading const how = reading_of(e, a);
    if (how != reading::elementwise && how != reading::broadcast) return false;
    follows |= how == reading::elementwise;
  }
  return follows;
}

/// TVM's kind. Operators of several operands count as broadcasting, as they are registered there.
constexpr kind kind_of(index_expression const& e) {
  bool all_elementwise = true, all_broadcast = true, has_window = false;
  for (int a = 0; a < e.body.access_count; ++a) {
    if (e.body.accesses[a].operand < 0) continue;
    reading const how = reading_of(e, a);
    all_elementwise &= how == reading::elementwise;
    all_broadcast &= how == reading::elementwise || how == reading::broadcast;
    has_window |= how == reading::window;
  }
  if (is_complex(e) || has_window) return kind::fusable_out;
  if (has_fold(e)) return kind::reduction;
  if (all_elementwise && e.operand_count <= 1) return kind::elementwise;
  return all_broadcast && !copies(e) ? kind::broadcast : kind::injective;
}
/// An operator of several expressions is opaque, like the compound operators of TVM's graphs.
constexpr kind kind_of(definition const& d) {
  return d.expression_count == 1 ? kind_of(d.expressions[0]) : kind::opaque;
}
/// How TVM's fusion sees one operand: an operand of a broadcasting operator may be read element by element.
constexpr kind kind_of(index_expression const& e, int a) {
  kind const k = kind_of(e);
  return k == kind::broadcast && reading_of(e, a) == reading::elementwise ? kind::elementwise : k;
}

/// Apollo's type. `known`: operands, as bits, that are known when the network is compiled, such as parameters; they do
/// not count, unless they are read at indices that are values.
constexpr dataflow dataflow_of(index_expression const& e, unsigned known = 0) {
  bool all_elementwise = true, all_broadcast = true, all_simple = true, permuted = false, has_window = false;
  for (int a = 0; a < e.body.access_count; ++a) {
    int const operand = e.body.accesses[a].operand;
    if (operand < 0) continue;
    reading const how = reading_of(e, a);
    has_window |= how == reading::window;
    if ((known >> operand & 1) && how != reading::dependent) continue;
    all_elementwise &= how == reading::elementwise;
    all_broadcast &= how == reading::elementwise || how == reading::broadcast;
    all_simple &= how <= reading::broadcast || how == reading::folded;
    permuted |= how == reading::permuted;
  }
  if (is_complex(e)) return has_window ? dataflow::conv : dataflow::matmul;
  if (all_elementwise) return dataflow::elementwise;  // folds of one element, too
  if (has_fold(e)) return all_simple ? dataflow::reduction : dataflow::opaque;
  if (all_broadcast) return dataflow::broadcast;
  return permuted && copies(e) ? dataflow::transpose : dataflow::opaque;
}
/// An operator of several expressions is a reduction if one of them is, as Apollo's graphs have it closed.
constexpr dataflow dataflow_of(definition const& d) {
  dataflow r = dataflow::elementwise;
  for (int i = 0; i < d.expression_count; ++i) {
    unsigned known = 0;
    for (int k = 0; k < d.expressions[i].operand_count; ++k)
      known |= unsigned(d.values[d.reads[i][k]].role == value_role::parameter) << k;
    dataflow const one = dataflow_of(d.expressions[i], known);
    if (d.expression_count == 1 || one == dataflow::reduction) return one;
    r = one > r ? one : r;
  }
  return r;
}

/// AGO III.B: the axes of the result, as bits, that access a lacks. An operand whose readings lack none can be computed
/// where it is read, without being computed again for other elements.
constexpr unsigned lacks(index_expression const& e, int a) {
  unsigned r = 0;
  for (int x = 0; x < e.result.rank; ++x)
    if (e.extent[x] > 1 && !(axes_of(e.body, e.body.accesses[a]) >> x & 1)) r |= 1u << x;
  return r;
}

/// Is an operand of an image's expression like the weights of a convolution that has a window for each channel, of a
/// few pixels?
constexpr bool has_windows_of_channels(index_expression const& e) {
  for (int i = 0; i < e.operand_count && e.result.rank == 4; ++i) {
    extents const& x = e.operands[i];
    int const window = x.rank == 4 ? x.of[2] * x.of[3] : 0;
    if (window > 1 && window <= 9 && x.of[1] == 1 && x.of[0] == e.result.of[3]) return true;
  }
  return false;
}

}  // namespace ago::expression
