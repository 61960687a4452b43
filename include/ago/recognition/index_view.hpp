// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the elements of an index expression lie in its operands, for recognising operators.
#pragma once

#include <ago/expression/digits.hpp>
#include <ago/expression/facts.hpp>

namespace ago::recognition {

/// An index as a sum of multiples of axes. Axes of one element have the multiple 0.
struct axis_sum {
  bool is_exact{true};  ///< false: parts of an axis have multiples of their own
  long constant{};
  long of[expression::max_axes]{};

  constexpr unsigned axes() const {
    unsigned r = 0;
    for (int x = 0; x < expression::max_axes; ++x) r |= unsigned(of[x] != 0) << x;
    return r;
  }
  /// Its only axis, with multiple 1 and no constant; otherwise -1.
  constexpr int plain_axis() const {
    int r = -1;
    for (int x = 0; x < expression::max_axes; ++x) {
      if (of[x] == 0) continue;
      if (r >= 0 || of[x] != 1) return -1;
      r = x;
    }
    return is_exact && constant == 0 ? r : -1;
  }
};

struct index_view {
  expression::index_expression const& e;
  expression::digits in;

  constexpr explicit index_view(expression::index_expression const& of) : e(of), in(of) {}

  constexpr expression::element_access const& access(int a) const { return e.body.accesses[a]; }
  constexpr expression::extents const& operand_of(int a) const { return e.operands[access(a).operand]; }

  constexpr axis_sum by_axes(expression::digit_sum const& s) const {
    axis_sum r{s.is_exact, s.constant};
    for (int k = 0; k < in.count; ++k)
      if (in.all[k].weight == 1 && in.all[k].extent > 1) r.of[in.all[k].axis] = s.of[k];
    for (int k = 0; k < in.count; ++k) {
      expression::digit const& d = in.all[k];
      if (d.extent > 1 && s.of[k] != r.of[d.axis] * d.weight) r.is_exact = false;
    }
    return r;
  }
  /// The index of dimension d.
  constexpr expression::digit_sum digits_at(int a, int d) const { return in(e, access(a).at[d].sum); }
  constexpr axis_sum at(int a, int d) const { return by_axes(digits_at(a, d)); }
  constexpr expression::digit_sum address(int a) const {
    expression::digit_sum const r = expression::address_of(e, in, access(a), operand_of(a));
    return r.is_exact || access(a).padded ? r : reunited_address(a);
  }

  /// The address of an access whose indices are the quotients and remainders of one sum, as a reshape has them, even if
  /// its extents do not divide one another: i / 6 * 6 + i / 2 % 3 * 2 + i % 2 = i. Not exact for others.
  constexpr expression::digit_sum reunited_address(int a) const {
    constexpr int most = 8;
    expression::digit_sum failed;
    failed.is_exact = false;
    struct part {
      expression::quotient of{};
      long factor{};
    } parts[most]{};
    int count = 0;
    for (int d = 0; d < access(a).rank; ++d) {
      expression::affine_sum const& s = access(a).at[d].sum;
      if (access(a).at[d].node >= 0 || s.constant != 0 || s.count > 1) return failed;
      if (s.count == 0) continue;
      expression::term const& t = e.body.terms[s.first];
      if (t.atom < expression::max_axes || t.coefficient != 1 || count == most) return failed;
      parts[count++] = {e.body.quotients[t.atom - expression::max_axes], operand_of(a).stride(d)};
    }
    // From the innermost part: each begins where the one before ends, and the last has no end, or one that is not
    // reached.
    long next = 1;
    while (count-- > 0) {
      expression::quotient const& q = parts[count].of;
      if (!(q.of == parts[0].of.of) || q.divisor != next || parts[count].factor != next) return failed;
      if (count > 0 && q.modulus == 0) return failed;
      next *= q.modulus;
    }
    expression::range const r = expression::range_of(e.body, parts[0].of.of, e.extent);
    if (r.lower < 0 || (next != 0 && r.upper >= next)) return failed;
    return in(e, parts[0].of.of);
  }

  /// Axes of more than one element.
  constexpr unsigned wide(unsigned axes) const { return axes & e.wide_axes(); }
  constexpr unsigned result_axes() const { return wide(e.result_axes()); }
  constexpr bool is_dependent(int a) const { return access(a).is_dependent(); }
};

/// A loop over a value: elements `stride` apart.
struct stride_loop {
  long extent{1}, stride{};
};

/// Loops, outermost first, none of which has one element, and adjacent ones of one stride are one.
struct stride_loops {
  static constexpr int capacity = expression::digit_sum::max_digits;

  stride_loop all[capacity]{};
  int count{};

  constexpr void add(long extent, long stride) {
    if (extent == 1) return;
    if (count > 0 && all[count - 1].stride == stride * extent) {
      all[count - 1] = {all[count - 1].extent * extent, stride};
      return;
    }
    all[count++] = {extent, stride};
  }
};

}  // namespace ago::recognition
