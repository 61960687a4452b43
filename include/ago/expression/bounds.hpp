// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of the elements of a result, from those of the operands, by interval arithmetic over the body.
#pragma once

#include <ago/expression/counts.hpp>

namespace ago::expression {

struct bounds {
  double lower = -__builtin_huge_val(), upper = __builtin_huge_val();
  constexpr bool operator==(bounds const&) const = default;
  constexpr bool within(bounds const& o) const { return lower >= o.lower && upper <= o.upper; }
};

/// Whether bounds must hold for kernels, which round, add in any order, and approximate functions: then only the sign
/// of such results is known.
enum class arithmetic : std::uint8_t { exact, rounded };

namespace detail {

constexpr double least(double a, double b) { return b < a ? b : a; }
constexpr double most(double a, double b) { return b > a ? b : a; }
constexpr bounds united(bounds const& a, bounds const& b) { return {least(a.lower, b.lower), most(a.upper, b.upper)}; }

/// Products of infinity and 0 count as 0: a bound that is not reached.
constexpr double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
constexpr bounds product(bounds const& a, bounds const& b) {
  double const p = times(a.lower, b.lower), q = times(a.lower, b.upper), r = times(a.upper, b.lower),
               s = times(a.upper, b.upper);
  return {least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}
constexpr bounds sign_of(bounds const& b) {
  return {b.lower >= 0 ? 0 : -__builtin_huge_val(), b.upper <= 0 ? 0 : __builtin_huge_val()};
}

/// Does every window of a padded access reach an element? Per dimension, at each value of axes that are not folded.
constexpr bool always_inside(index_expression const& e, element_access const& a, unsigned folded) {
  for (int d = 0; d < a.rank; ++d) {
    if (a.at[d].node >= 0) return false;
    affine_sum const& s = a.at[d].sum;
    long const extent = e.operands[a.operand].of[d];
    range const all = range_of(e.body, s, e.extent);
    if (all.lower >= 0 && all.upper < extent) continue;
    unsigned const axes = axes_of(e.body, s);
    long outer = 1, inner = 1;
    for (int x = 0; x < e.axis_count; ++x)
      if (axes >> x & 1) (folded >> x & 1 ? inner : outer) *= e.extent[x];
    if (outer * inner > 1 << 14) return false;
    for (int b = 0; b < a.rank; ++b)  // the dimensions must be independent
      if (b != d && (axes_of(e.body, a.at[b].sum) & axes & folded)) return false;
    for (long o = 0; o < outer; ++o) {
      bool reached = false;
      for (long i = 0; i < inner && !reached; ++i) {
        int at[max_axes]{};
        long left[2] = {o, i};
        for (int x = 0; x < e.axis_count; ++x) {
          if (!(axes >> x & 1)) continue;
          long& l = left[folded >> x & 1];
          at[x] = int(l % e.extent[x]);
          l /= e.extent[x];
        }
        long const v = value_of(e.body, s, at);
        reached = v >= 0 && v < extent;
      }
      if (!reached) return false;
    }
  }
  return true;
}

constexpr bounds of_function(node_kind k, bounds const& a) {
  constexpr double huge = __builtin_huge_val();
  switch (k) {
    case node_kind::negate: return {-a.upper, -a.lower};
    case node_kind::absolute: return {a.lower > 0 ? a.lower : a.upper < 0 ? -a.upper : 0, most(-a.lower, a.upper)};
    case node_kind::exp: return {0, a.upper <= 0 ? 1 : huge};
    case node_kind::expm1: return {a.lower >= 0 ? 0. : -1., a.upper <= 0 ? 0 : huge};
    case node_kind::log: return {a.lower >= 1 ? 0 : -huge, a.upper <= 1 ? 0 : huge};
    case node_kind::log1p: return sign_of(a);
    case node_kind::sqrt:
    case node_kind::rsqrt: return {0, huge};
    case node_kind::erf:
    case node_kind::tanh: return {a.lower >= 0 ? 0. : -1., a.upper <= 0 ? 0. : 1.};
    case node_kind::sigmoid: return {a.lower >= 0 ? .5 : 0, a.upper <= 0 ? .5 : 1};
    case node_kind::sin:
    case node_kind::cos: return {-1, 1};
    case node_kind::floor: return {a.lower >= 0 ? 0 : a.lower - 1, a.upper};
    case node_kind::ceil: return {a.lower, a.upper <= 0 ? 0 : a.upper + 1};
    case node_kind::round: return {a.lower >= 0 ? 0 : a.lower - 1, a.upper <= 0 ? 0 : a.upper + 1};
    default: return {};
  }
}

/// Of an operation on two operands, which are equal if `same`.
constexpr bounds of_pair(node_kind k, bounds const& a, bounds const& b, bool same) {
  constexpr double huge = __builtin_huge_val();
  switch (k) {
    case node_kind::add: return {a.lower + b.lower, a.upper + b.upper};
    case node_kind::subtract: return {a.lower - b.upper, a.upper - b.lower};
    case node_kind::multiply: {
      bounds const r = product(a, b);
      return {same ? most(r.lower, 0) : r.lower, r.upper};
    }
    case node_kind::divide:
      if (b.lower > 0 || b.upper < 0) return product(a, {1 / b.upper, 1 / b.lower});
      return b.lower >= 0 ? sign_of(a) : bounds{};
    case node_kind::maximum: return {most(a.lower, b.lower), most(a.upper, b.upper)};
    case node_kind::minimum: return {least(a.lower, b.lower), least(a.upper, b.upper)};
    case node_kind::power: return a.lower >= 0 ? bounds{0, huge} : bounds{};
    default: return {};
  }
}

/// Of a comparison, which is 1 or 0.
constexpr bounds of_comparison(node_kind k, bounds const& a, bounds const& b) {
  switch (k) {
    case node_kind::less: return {a.upper < b.lower ? 1. : 0., a.lower >= b.upper ? 0. : 1.};
    case node_kind::less_equal: return {a.upper <= b.lower ? 1. : 0., a.lower > b.upper ? 0. : 1.};
    default: return {0, a.lower > b.upper || a.upper < b.lower ? 0. : 1.};  // equal
  }
}

/// Results that no kernel rounds.
constexpr bool is_exact(node_kind k) {
  return k == node_kind::negate || k == node_kind::absolute || k == node_kind::maximum || k == node_kind::minimum ||
         k == node_kind::select || k == node_kind::maximum_of || k == node_kind::minimum_of;
}

/// Of a fold of values within `a`.
constexpr bounds of_fold(index_expression const& e, node const& x, bounds const& a, bounds const* operands) {
  if (x.kind == node_kind::sum) {
    double points = 1;
    for (int i = 0; i < e.axis_count; ++i)
      if (x.bits >> i & 1) points *= e.extent[i];
    return {times(points, a.lower), times(points, a.upper)};
  }
  if (x.kind == node_kind::product) return a.lower >= 0 ? bounds{0, a.upper <= 1 ? 1 : __builtin_huge_val()} : bounds{};
  // What is read outside of an operand never wins if it is the fold's own start.
  node const& folded = e.body.nodes[x.operand[0]];
  if (folded.kind != node_kind::read) return a;
  element_access const& from = e.body.accesses[folded.operand[0]];
  bool const never_wins = from.padded && from.pad() == identity_of(x.kind) && always_inside(e, from, x.bits);
  return never_wins ? operands[from.operand] : a;
}

}  // namespace detail

/// Bounds of the result. `operands`: of the values that it reads; NaN is outside of any bounds.
constexpr bounds bounds_of(index_expression const& e, bounds const* operands, arithmetic how) {
  using namespace detail;
  bounds of[decltype(index_expression::body)::node_capacity]{};
  for (int n = 0; n < e.body.node_count; ++n) {
    node const& x = e.body.nodes[n];
    bounds const a = x.operand[0] >= 0 && !is_leaf(x.kind) ? of[x.operand[0]] : bounds{};
    bounds const b = x.operand[1] >= 0 ? of[x.operand[1]] : bounds{};
    bounds r;
    switch (x.kind) {
      case node_kind::number: of[n] = {x.number(), x.number()}; continue;
      case node_kind::position: {
        range const v = range_of(e.body, e.body.accesses[x.operand[0]].at[0].sum, e.extent);
        of[n] = {double(v.lower), double(v.upper)};
        continue;
      }
      case node_kind::read: {
        element_access const& from = e.body.accesses[x.operand[0]];
        of[n] = operands[from.operand];
        if (from.padded) of[n] = united(of[n], {from.pad(), from.pad()});
        continue;
      }
      case node_kind::add:
      case node_kind::subtract:
      case node_kind::multiply:
      case node_kind::divide:
      case node_kind::maximum:
      case node_kind::minimum:
      case node_kind::power: r = of_pair(x.kind, a, b, x.operand[0] == x.operand[1]); break;
      case node_kind::less:
      case node_kind::less_equal:
      case node_kind::equal: of[n] = of_comparison(x.kind, a, b); continue;
      case node_kind::select: {
        bool const never = a.lower == 0 && a.upper == 0, always = a.lower > 0 || a.upper < 0;
        bounds const otherwise = of[x.operand[2]];
        r = never ? otherwise : always ? b : united(b, otherwise);
        break;
      }
      case node_kind::sum:
      case node_kind::product:
      case node_kind::maximum_of:
      case node_kind::minimum_of: r = of_fold(e, x, a, operands); break;
      default: r = of_function(x.kind, a); break;
    }
    of[n] = how == arithmetic::exact || is_exact(x.kind) ? r : sign_of(r);
  }
  return of[e.root()];
}

/// Bounds of result i of an operator. `given`: of its inputs and parameters, in the order of its values.
constexpr bounds bounds_of(definition const& d, bounds const* given, arithmetic how, int i = 0) {
  bounds of[definition::max_values]{};
  for (int v = 0, next = 0; v < d.value_count; ++v)
    if (d.values[v].role != value_role::computed) of[v] = given[next++];
  for (int k = 0; k < d.expression_count; ++k) {
    bounds operands[index_expression::max_operands]{};
    for (int j = 0; j < d.expressions[k].operand_count; ++j) operands[j] = of[d.reads[k][j]];
    of[d.makes[k]] = bounds_of(d.expressions[k], operands, how);
  }
  return of[d.results[i]];
}

}  // namespace ago::expression
