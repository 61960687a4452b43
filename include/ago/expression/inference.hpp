// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extents of axes, of inferred parameters and of the result, from the extents of what an expression reads.
//
// As in Tensor Comprehensions (range inference in rounds; Vasilache et al., 2018): a variable gets the largest range
// for which nothing outside of an operand is read. Unlike there, extents are numbers, so what does not agree is an
// error here and no condition at run time.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression::detail {

struct inference {
  index_expression& e;
  value* values;              ///< of the operator
  std::int16_t const* reads;  ///< the value that each operand is
  int const* line_of;         ///< of each access
  int line;                   ///< of the expression
  bool given[max_axes]{};
  diagnostic bad{};

  constexpr inference(index_expression& of, value* all, std::int16_t const* operands, int const* lines, int at)
      : e(of), values(all), reads(operands), line_of(lines), line(at) {
    for (int x = 0; x < e.axis_count; ++x) given[x] = e.extent[x] > 0;
  }

  constexpr void complain(fault what, int access, int dimension, long expected, long actual) {
    if (bad.what != fault::none) return;
    int const operand = access < 0 ? -1 : e.body.accesses[access].operand;
    int const at = access < 0 || line_of[access] == 0 ? line : line_of[access];
    bad = {what, -1, operand < 0 ? -1 : int(reads[operand]), dimension, at, expected, actual};
  }

  constexpr bool is_known(unsigned axes) const {
    for (int x = 0; x < e.axis_count; ++x)
      if ((axes >> x & 1) && e.extent[x] <= 0) return false;
    return true;
  }
  /// The only unknown one of some axes; -1 if there are none or several.
  constexpr int unknown_of(unsigned axes) const {
    int r = -1;
    for (int x = 0; x < e.axis_count; ++x)
      if ((axes >> x & 1) && e.extent[x] <= 0) {
        if (r >= 0) return -1;
        r = x;
      }
    return r;
  }

  /// Calls f(access, dimension, index, extent) for every index that is a sum; the extent is 0 if it is not known yet.
  constexpr void for_each_index(auto const& f) const {
    for (int a = 0; a < e.body.access_count; ++a) {
      element_access const& r = e.body.accesses[a];
      if (r.operand < 0) continue;
      for (int d = 0; d < r.rank; ++d)
        if (r.at[d].node < 0) f(a, d, r.at[d], e.operands[r.operand].of[d]);
    }
  }

  constexpr void check_ranks() {
    for (int a = 0; a < e.body.access_count; ++a) {
      element_access const& r = e.body.accesses[a];
      if (r.operand < 0) continue;
      extents& of = e.operands[r.operand];
      if (of.rank == 0 && values[reads[r.operand]].is_inferred) of.rank = r.rank;
      if (of.rank != r.rank) complain(fault::rank_differs, a, -1, of.rank, r.rank);
    }
  }

  /// The dimensions that an axis indexes alone must have the same extent, unless that of the axis is given.
  constexpr void compare_plain_indices() {
    int extent_of[max_axes]{};
    for_each_index([&](int a, int d, index_map const& m, int extent) {
      int const x = plain_axis(e.body, m);
      if (x < 0 || extent == 0 || given[x]) return;
      if (extent_of[x] == 0) extent_of[x] = extent;
      else if (extent_of[x] != extent) complain(fault::extents_differ, a, d, extent_of[x], extent);
    });
  }

  /// The smallest and the largest value of a sum. With quotients, bounds may not be reached: then all values are
  /// computed, unless they are too many.
  constexpr range values_of(affine_sum const& s) const {
    range const bounds = range_of(e.body, s, e.extent);
    bool has_quotient = false;
    for (int i = s.first; i < s.first + s.count; ++i) has_quotient |= e.body.terms[i].atom >= max_axes;
    if (!has_quotient) return bounds;
    unsigned const axes = axes_of(e.body, s);
    long points = 1;
    for (int x = 0; x < e.axis_count; ++x)
      if ((axes >> x & 1) && points <= most_points) points *= e.extent[x];
    if (points > most_points) return bounds;
    range r{bounds.upper, bounds.lower};
    for (long p = 0; p < points; ++p) {
      int at[max_axes]{};
      long left = p;
      for (int x = 0; x < e.axis_count; ++x)
        if (axes >> x & 1) {
          at[x] = int(left % e.extent[x]);
          left /= e.extent[x];
        }
      long const v = value_of(e.body, s, at);
      r = {v < r.lower ? v : r.lower, v > r.upper ? v : r.upper};
    }
    return r;
  }
  static constexpr long most_points = 2048;

  /// The largest extent of axis x, the only unknown one of sum s, with which s stays within 0 ... extent - 1; 0 if
  /// there is none, -1 if the sum does not limit it in a simple way.
  constexpr long largest(affine_sum const& s, int x, int extent) {
    e.extent[x] = 1;
    range const others = values_of(s);
    e.extent[x] = 0;
    int found = -1;
    for (int i = s.first; i < s.first + s.count; ++i) {
      unsigned const axes = axes_of(e.body, affine_sum{std::int16_t(i), 1, 0});
      bool const here = axes >> x & 1;
      if (!here) continue;
      if (found >= 0) return -1;
      found = i;
    }
    term const& t = e.body.terms[found];
    if (others.upper > extent - 1 || others.lower < 0) return 0;
    if (t.atom < max_axes)
      return t.coefficient > 0 ? (extent - 1 - others.upper) / t.coefficient + 1 : others.lower / -t.coefficient + 1;
    quotient const& q = e.body.quotients[t.atom - max_axes];
    if (q.modulus || t.coefficient < 0) return -1;
    long coefficient = 0;
    for (int i = q.of.first; i < q.of.first + q.of.count; ++i)
      if (e.body.terms[i].atom == x) coefficient = e.body.terms[i].coefficient;
    if (coefficient <= 0) return -1;
    e.extent[x] = 1;
    long const inner = range_of(e.body, q.of, e.extent).upper;
    e.extent[x] = 0;
    long const left = (extent - 1 - others.upper) / t.coefficient, most = floor_quotient(inner, q.divisor) + left;
    // Terms with common axes need not be largest together: then there is room for more.
    e.extent[x] = int((most * q.divisor + q.divisor - 1 - inner) / coefficient + 1);
    for (range v{}; v.upper < extent && v.lower >= 0; ++e.extent[x]) v = values_of(s);
    int const found_extent = e.extent[x] - 2;
    e.extent[x] = 0;
    return found_extent;
  }

  /// One round: every axis that is the only unknown one of an index. Returns whether an extent was found.
  constexpr bool solve_indices() {
    long most[max_axes]{};
    for_each_index([&](int a, int d, index_map const& m, int extent) {
      if (extent == 0 || (e.body.accesses[a].padded && plain_axis(e.body, m) < 0)) return;
      int const x = unknown_of(axes_of(e.body, m.sum));
      if (x < 0) return;
      long const n = largest(m.sum, x, extent);
      if (n == 0) {
        e.extent[x] = 1;
        range const r = range_of(e.body, m.sum, e.extent);
        e.extent[x] = 0;
        complain(fault::reads_outside, a, d, extent, r.lower < 0 ? r.lower : r.upper + 1);
      }
      if (n > 0 && (most[x] == 0 || n < most[x])) most[x] = n;
    });
    bool found = false;
    for (int x = 0; x < e.axis_count; ++x)
      if (most[x] > 0) {
        e.extent[x] = int(most[x]);
        found = true;
      }
    return found;
  }

  /// An inferred parameter is as large as its indices reach.
  constexpr bool size_parameters() {
    bool found = false;
    for (int k = 0; k < e.operand_count; ++k) {
      if (!values[reads[k]].is_inferred) continue;
      for (int d = 0; d < e.operands[k].rank; ++d) {
        if (e.operands[k].of[d] > 0) continue;
        long last = 0;
        bool known = true;
        for (int a = 0; a < e.body.access_count && known; ++a) {
          element_access const& r = e.body.accesses[a];
          if (r.operand != k) continue;
          known = r.at[d].node < 0 && is_known(axes_of(e.body, r.at[d].sum));
          if (!known) break;
          long const upper = values_of(r.at[d].sum).upper;
          last = upper > last ? upper : last;
        }
        if (!known) continue;
        e.operands[k].of[d] = int(last + 1);
        found = true;
      }
    }
    return found;
  }

  constexpr void check_reads() {
    for_each_index([&](int a, int d, index_map const& m, int extent) {
      if (e.body.accesses[a].padded || !is_known(axes_of(e.body, m.sum)) || extent == 0) return;
      range r = range_of(e.body, m.sum, e.extent);
      if (r.lower < 0 || r.upper >= extent) r = values_of(m.sum);
      if (r.lower < 0 || r.upper >= extent)
        complain(fault::reads_outside, a, d, extent, r.lower < 0 ? r.lower : r.upper + 1);
    });
  }

  constexpr void check_extents() {
    for (int x = 0; x < e.axis_count; ++x) {
      if (e.extent[x] > 0) continue;
      int where = -1, dimension = -1;
      for_each_index([&](int a, int d, index_map const& m, int) {
        if (where >= 0 || !(axes_of(e.body, m.sum) >> x & 1)) return;
        where = a;
        dimension = d;
      });
      complain(fault::extent_unknown, where, dimension, 1, 0);
      e.extent[x] = 1;
    }
    for_each_index([&](int a, int d, index_map const&, int extent) {
      if (extent <= 0) complain(fault::extent_unknown, a, d, 1, 0);
    });
    for (int a = 0; a < e.body.access_count; ++a)
      for (int d = 0; d < e.body.accesses[a].rank; ++d)
        if (int const k = e.body.accesses[a].operand; k >= 0 && e.operands[k].of[d] <= 0) {
          complain(fault::extent_unknown, a, d, 1, 0);
          e.operands[k].of[d] = 1;
        }
  }

  /// Counts of elements are ints everywhere.
  constexpr void check_size(extents& of) {
    constexpr long most = 0x7fffffff;
    long count = 1;
    for (int d = 0; d < of.rank; ++d) count = count > most / of.of[d] ? most + 1 : count * of.of[d];
    if (count > most) complain(fault::too_large, -1, -1, most, count);
  }

  constexpr void run() {
    check_ranks();
    if (bad.what != fault::none) return;
    do {
      compare_plain_indices();
      while (solve_indices()) {}
    } while (size_parameters());
    check_extents();
    check_reads();
    for (int d = 0; d < e.result.rank; ++d) e.result.of[d] = e.extent[d];
    for (int k = 0; k < e.operand_count; ++k) values[reads[k]].extents = e.operands[k];
    check_size(e.result);
    for (int k = 0; k < e.operand_count; ++k) check_size(e.operands[k]);
  }
};

}  // namespace ago::expression::detail
