// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of the elements that one access reads.
#pragma once

#include <ago/expression/derivative.hpp>
#include <ago/expression/fold_gradients.hpp>
#include <ago/expression/index_inverse.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// Operations whose results are finite for finite operands.
constexpr bool is_total(node_kind k) {
  switch (k) {
    case node_kind::divide:
    case node_kind::power:
    case node_kind::exp:
    case node_kind::expm1:
    case node_kind::log:
    case node_kind::log1p:
    case node_kind::sqrt:
    case node_kind::rsqrt: return false;
    default: return true;
  }
}

/// The gradient of what an access reads.
struct access_gradient {
  definition_writer& out;
  computed_value const& y;
  int flow;  ///< the value that is the gradient of y
  int access;

  index_expression const& e{y.e};
  plain_fold const fold{e};
  draft made{};
  index_inverse inverse{e, access, made.into};
  axis_values& axes{inverse.values};
  rewriter from{e, y.reads, y.value, axes, made.reads};
  arithmetic_writer const write{made.into};

  /// Adds it to the operator; returns its value, or -1 if it is 0 everywhere.
  constexpr int emit() {
    auto const value = [this](int n) { return from.copy(n); };
    derivative<decltype(value)> change{e, access, write, value};
    int x = change.of(fold.body);
    if (x < 0) return -1;
    if (fold.factor != 1) x = write.multiply(x, write.number(fold.factor));
    unsigned const wide = e.wide_axes();
    if (fold.is(node_kind::product) && (fold.axes & wide)) {
      unsigned const at = (e.result_axes() | fold.axes) & wide;
      int const others = emit_product_of_others(out, y, fold, at);
      if (out.to.bad.what != fault::none) return -1;
      x = write.multiply(x, from.read(others, at));
    }
    x = write.multiply(from.read(flow, e.result_axes()), x);
    if (fold.chooses()) x = where_chosen(x);
    x = where_it_is_read(x);
    if (inverse.summed) x = made.into.add(node{node_kind::sum, {std::int16_t(x), -1, -1}, inverse.summed});
    if (!axes.fits) out.complain(canonical::max_terms);
    extents const& of = e.operands[e.body.accesses[access].operand];
    int const dense = made.emit(out, x, of.rank);
    for (int d = 0; d < of.rank; ++d)
      if (inverse.shift[d].is_used) return emit_moved(dense, of);
    return dense;
  }

 private:
  constexpr int where(int condition, int x) const {
    return write.make(node_kind::select, condition, x, write.number(0));
  }
  constexpr int where_chosen(int x) {
    axis_values::sum s;
    point_numbers const points(e, fold.axes);
    for (int k = 0; k < axes.in.count; ++k) {
      digit const& g = axes.in.all[k];
      axes.add(s, k, g.weight * points.multiple[g.axis]);
    }
    int const first = from.read(emit_first_of_equals(out, y, fold), e.result_axes());
    return where(write.make(node_kind::equal, first, from.position(axes.made(s))), x);
  }

  /// Only where the access reads the element: conditions that no padding stands for.
  constexpr int where_it_is_read(int x) {
    bool const total = is_total_at(x);
    int all = -1;
    auto const require = [&](int condition) { all = all < 0 ? condition : write.multiply(all, condition); };
    for (int i = 0; i < inverse.condition_count; ++i) {
      index_inverse::condition const& c = inverse.conditions[i];
      if (!c.is_zero && total && is_padded_where(c, x)) continue;
      bool const is_numbered = fold.chooses() && (fold.axes & c.whole_axis);
      if (is_numbered && !c.lower && axes.range_of(c.of).upper < 2 * c.extent) continue;
      int const at = from.position(c.of), none = write.number(0);
      if (c.is_zero) require(write.make(node_kind::equal, at, none));
      if (c.lower) require(write.make(node_kind::less_equal, none, at));
      if (c.upper) require(write.make(node_kind::less, at, write.number(double(c.extent))));
    }
    element_access const& a = e.body.accesses[access];
    for (int d = 0; d < a.rank; ++d) {
      if (a.at[d].node < 0) continue;
      int const whole = write.make(node_kind::floor, from.copy(a.at[d].node));
      int const index = a.padded ? whole : from.clamped(whole, e.operands[a.operand].of[d]);
      require(write.make(node_kind::equal, from.position(axes.axis(d)), index));
    }
    return all < 0 ? x : where(all, x);
  }
  constexpr bool is_total_at(int n) const {
    node const& x = made.e.body.nodes[n];
    bool r = is_total(x.kind);
    for_each_node_read(made.e.body, x, [&](int k) { r = r && is_total_at(k); });
    return r;
  }
  /// Is a factor of x 0 where the condition does not hold?
  constexpr bool is_padded_where(index_inverse::condition const& c, int n) const {
    node const& x = made.e.body.nodes[n];
    if (x.kind == node_kind::multiply) return is_padded_where(c, x.operand[0]) || is_padded_where(c, x.operand[1]);
    if (x.kind == node_kind::select) {
      auto const is_zero = [&](int i) { return write.is_number(x.operand[i], 0) || is_padded_where(c, x.operand[i]); };
      return is_zero(1) && is_zero(2);
    }
    if (x.kind != node_kind::read) return false;
    element_access const& a = made.e.body.accesses[x.operand[0]];
    if (!a.padded || a.pad() != 0) return false;
    for (int d = 0; d < a.rank; ++d)
      if (a.at[d].node < 0 && a.at[d].sum == c.of && made.e.operands[a.operand].of[d] == c.extent) return true;
    return false;
  }

  /// From the inverse's axes to the operand's indices.
  constexpr int emit_moved(int dense, extents const& of) {
    draft moved;
    axis_values z{e, moved.into};
    arithmetic_writer const to{moved.into};
    element_access a{.rank = std::int16_t(of.rank)};
    extents from_extents;
    from_extents.rank = of.rank;
    moved.e.axis_count = std::int16_t(of.rank);
    for (int d = 0; d < of.rank; ++d) moved.e.extent[d] = of.of[d];
    int all = -1;
    for (int d = 0; d < of.rank; ++d) {
      index_shift const& s = inverse.shift[d];
      from_extents.of[d] = made.e.extent[d];
      affine_sum zero = z.axis(d, 1, -s.constant);
      axis_values::sum place;
      if (!s.is_used) {
        zero = affine_sum{};
        place.add({z.axis(d), 1, 0, 1});
      } else if (!s.is_constant) {
        place.constant = -s.first;
        place.add({zero, s.divisor, 0, s.factor()});
        if (s.step > 1)
          place.add({z.axis(d, int(s.inverse()), -s.constant * s.inverse()), s.divisor * s.stride, 0, s.turn()});
        axis_values::sum rest;
        if (s.divisor > 1) rest.add({zero, 1, s.divisor, 1});
        zero = z.made(rest);
      }
      a.at[d].sum = z.made(place);
      range const inside = z.range_of(a.at[d].sum);
      a.padded |= inside.lower < 0 || inside.upper >= from_extents.of[d];
      if (zero.count == 0 && zero.constant == 0) continue;
      element_access p{.rank = 1};
      p.at[0].sum = zero;
      int const at = moved.into.add(node{node_kind::position, {std::int16_t(moved.into.add(p)), -1, -1}});
      int const holds = to.make(node_kind::equal, at, to.number(0));
      all = all < 0 ? holds : to.multiply(all, holds);
    }
    a.operand = std::int16_t(moved.into.add_operand(moved.reads, dense, from_extents));
    int x = moved.into.add(node{node_kind::read, {std::int16_t(moved.into.add(a)), -1, -1}});
    if (all >= 0) x = to.make(node_kind::select, all, x, to.number(0));
    return moved.emit(out, x, of.rank);
  }
};

}  // namespace ago::expression::detail
