// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of an expression, its multiply-adds, and the elements that it reads and writes.
#pragma once

#include <ago/expression/digits.hpp>
#include <ago/expression/facts.hpp>

namespace ago::expression {

/// Extents of nested loops.
struct loops {
  int extent[max_axes]{};
  int count{};

  constexpr long points() const {
    long r = 1;
    for (int i = 0; i < count; ++i) r *= extent[i];
    return r;
  }
};

/// The loops of AGO's Eq. (1): those of the result and of the fold with most points.
constexpr loops loops_of(index_expression const& e) {
  loops best;
  for (int x = 0; x < e.result.rank; ++x) best.extent[best.count++] = e.extent[x];
  loops const outer = best;
  for (int n = 0; n < e.body.node_count; ++n) {
    if (!is_fold(e.body.nodes[n].kind)) continue;
    loops l = outer;
    for (int x = e.result.rank; x < e.axis_count; ++x)
      if (e.body.nodes[n].bits >> x & 1) l.extent[l.count++] = e.extent[x];
    if (l.points() > best.points()) best = l;
  }
  return best;
}
/// Those of its expression with most points; of equals, the last one's, whose order is the result's.
constexpr loops loops_of(definition const& d) {
  loops best;
  for (int i = 0; i < d.expression_count; ++i)
    if (loops const l = loops_of(d.expressions[i]); i == 0 || l.points() >= best.points()) best = l;
  return best;
}

/// The first axis of the result that has several indices; -1: none has.
constexpr int outermost_axis(index_expression const& e) {
  for (int x = 0; x < e.result.rank; ++x)
    if (e.extent[x] > 1) return x;
  return -1;
}
/// Its extent; 1 if there is none.
constexpr int outermost_extent(index_expression const& e) {
  int const x = outermost_axis(e);
  return x < 0 ? 1 : e.extent[x];
}

namespace detail {
/// The axes that node n depends on, folded ones included.
constexpr unsigned axes_below(index_expression const& e, int n) {
  unsigned axes[decltype(index_expression::body)::node_capacity]{};
  for (int i = 0; i <= n; ++i) {
    node const& x = e.body.nodes[i];
    if (is_leaf(x.kind) && x.kind != node_kind::number) axes[i] = axes_of(e.body, e.body.accesses[x.operand[0]]);
    if (is_fold(x.kind)) axes[i] = x.bits;
    for_each_node_read(e.body, x, [&](int k) { axes[i] |= axes[k]; });
  }
  return axes[n];
}
}  // namespace detail

/// Products that are added up in sums of products; 0 if the expression has none.
constexpr long multiply_adds(index_expression const& e) {
  long r = 0;
  for (int n = 0; n < e.body.node_count; ++n) {
    if (!is_sum_of_products(e, n)) continue;
    long points = 1;
    for (int x = 0; x < e.axis_count; ++x)
      if (detail::axes_below(e, n) >> x & 1) points *= e.extent[x];
    product_factors f;
    f.add(e, e.body.nodes[n].operand[0]);
    r += points * (f.distinct() - 1);
  }
  return r;
}
constexpr long multiply_adds(definition const& d) {
  long r = 0;
  for (int i = 0; i < d.expression_count; ++i) r += multiply_adds(d.expressions[i]);
  return r;
}

namespace detail {

/// How many different values a sum of digits takes, within 0 ... extent - 1; at most. It is exact unless multiples
/// overlap with gaps.
constexpr long different_values(digits const& in, digit_sum const& s, int extent) {
  long step = 0, span = 0, number = 1;  // values so far: multiples of step up to span, all if dense
  bool dense = true, used[digit_sum::max_digits]{};
  for (;;) {
    int next = -1;
    for (int k = 0; k < in.count; ++k) {
      if (used[k] || s.of[k] == 0 || in.all[k].extent == 1) continue;
      if (next < 0 || (s.of[k] < 0 ? -s.of[k] : s.of[k]) < (s.of[next] < 0 ? -s.of[next] : s.of[next])) next = k;
    }
    if (next < 0) break;
    used[next] = true;
    long const multiple = s.of[next] < 0 ? -s.of[next] : s.of[next], n = in.all[next].extent;
    if (step == 0) {
      step = multiple;
      number = n;
    } else if (dense && multiple % step == 0 && multiple <= span + step) {
      number += (n - 1) * (multiple / step);
    } else {
      dense = false;
      number *= n;
      for (long b = multiple; b != 0;) {  // the greatest common divisor
        long const left = step % b;
        step = b;
        b = left;
      }
    }
    span += (n - 1) * multiple;
    if (span / step + 1 < number) number = span / step + 1;
  }
  range const r = in.range_of(s);
  if (r.lower >= 0 && r.upper < extent) return number;
  long const inside = (r.upper < extent ? r.upper : extent - 1) - (r.lower > 0 ? r.lower : 0) + 1;
  if (inside <= 0) return 0;
  if (!dense || step == 0) return inside < number ? inside : number;
  long const first = r.lower >= 0 ? r.lower : r.lower + (-r.lower + step - 1) / step * step;
  long const last = r.upper < extent ? r.upper : r.upper - (r.upper - extent + step) / step * step;
  return last < first ? 0 : (last - first) / step + 1;
}

}  // namespace detail

/// The elements of its operand that access a reads; at most, if an axis indexes several dimensions or its multiples
/// overlap with gaps. All of them if an index is a value.
constexpr long footprint(index_expression const& e, int a) {
  element_access const& r = e.body.accesses[a];
  extents const& of = e.operands[r.operand];
  digits const in(e);
  long count = 1, points = 1;
  bool occurs[digit_sum::max_digits]{}, exact = true;
  for (int d = 0; d < r.rank; ++d) {
    digit_sum const s = in(e, r.at[d].sum);
    exact &= s.is_exact && r.at[d].node < 0;
    range const v = range_of(e.body, r.at[d].sum, e.extent);
    long const within = (v.upper < of.of[d] ? v.upper : of.of[d] - 1) - (v.lower > 0 ? v.lower : 0) + 1;
    if (r.at[d].node >= 0) count *= of.of[d];
    else count *= s.is_exact ? detail::different_values(in, s, of.of[d]) : within > 0 ? within : 0;
    for (int k = 0; k < in.count; ++k) occurs[k] |= s.of[k] != 0;
  }
  for (int k = 0; k < in.count; ++k)
    if (occurs[k]) points *= in.all[k].extent;
  return exact && points < count ? points : count;
}

/// The elements of operand k that an expression reads; at most.
constexpr long elements_read(index_expression const& e, int k) {
  long r = 0;
  for (int a = 0; a < e.body.access_count; ++a)
    if (e.body.accesses[a].operand == k) r += footprint(e, a);
  long const all = e.operands[k].count();
  return r < all ? r : all;
}
constexpr long bytes_read(index_expression const& e) {
  long r = 0;
  for (int k = 0; k < e.operand_count; ++k) r += 4 * elements_read(e, k);
  return r;
}
constexpr long bytes_written(index_expression const& e) { return 4 * e.result.count(); }

/// Is no element of its operand read at two points of the loops? False also where that is not clear.
constexpr bool reads_once(index_expression const& e, int a) {
  element_access const& r = e.body.accesses[a];
  digits const in(e);
  digit_sum const s = address_of(e, in, r, e.operands[r.operand]);
  if (!s.is_exact || r.padded) return false;
  bool used[digit_sum::max_digits]{};
  for (long span = 0;;) {  // each multiple must exceed all that the smaller ones reach
    int next = -1;
    for (int k = 0; k < in.count; ++k) {
      if (used[k] || in.all[k].extent == 1) continue;
      if (next < 0 || (s.of[k] < 0 ? -s.of[k] : s.of[k]) < (s.of[next] < 0 ? -s.of[next] : s.of[next])) next = k;
    }
    if (next < 0) return true;
    used[next] = true;
    long const multiple = s.of[next] < 0 ? -s.of[next] : s.of[next];
    if (multiple <= span) return false;
    span += (in.all[next].extent - 1) * multiple;
  }
}

}  // namespace ago::expression
