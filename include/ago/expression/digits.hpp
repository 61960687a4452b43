// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes divided into digits, so that quotients and remainders of indices become sums: with i = 6 a + 2 b + c, i / 6 is
// a, i / 2 % 3 is b. NeoFlow (section 4.2) resolves pairs of quotients and remainders; this is the general case.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression {

/// A digit of an axis: the axis is the sum of weight * digit.
struct digit {
  int axis{}, extent{1};
  long weight{1};
};

/// A constant plus multiples of digits.
struct digit_sum {
  static constexpr int max_digits = 24;
  bool is_exact{true};  ///< false: the index has a quotient that digits do not resolve
  long constant{};
  long of[max_digits]{};
};

/// The digits of all axes of an expression, those of an axis most significant first.
struct digits {
  digit all[digit_sum::max_digits]{};
  int count{};

  constexpr explicit digits(index_expression const& e) {
    for (int x = 0; x < e.axis_count; ++x) split(e, x);
  }

  /// A sum of axes and quotients in terms of digits.
  constexpr digit_sum operator()(index_expression const& e, affine_sum const& s) const {
    digit_sum r;
    r.constant = s.constant;
    for (int i = s.first; i < s.first + s.count; ++i) {
      term const& t = e.body.terms[i];
      if (t.atom < max_axes) {
        for (int k = 0; k < count; ++k)
          if (all[k].axis == t.atom) r.of[k] += t.coefficient * all[k].weight;
        continue;
      }
      digit_sum const q = resolved(e, e.body.quotients[t.atom - max_axes]);
      r.is_exact &= q.is_exact;
      r.constant += t.coefficient * q.constant;
      for (int k = 0; k < count; ++k) r.of[k] += t.coefficient * q.of[k];
    }
    return r;
  }

  constexpr range range_of(digit_sum const& s) const {
    range r{s.constant, s.constant};
    for (int k = 0; k < count; ++k) (s.of[k] > 0 ? r.upper : r.lower) += s.of[k] * (all[k].extent - 1);
    return r;
  }

 private:
  /// Divides axis x where a quotient or remainder has a boundary, if each boundary divides the next and the extent.
  constexpr void split(index_expression const& e, int x) {
    constexpr int most = 8;
    long cut[most]{1};
    int cuts = 1;
    long const extent = e.extent[x];
    for (int i = 0; i < e.body.quotient_count; ++i) {
      quotient const& q = e.body.quotients[i];
      for (int k = q.of.first; k < q.of.first + q.of.count; ++k) {
        if (e.body.terms[k].atom != x) continue;
        long const c = e.body.terms[k].coefficient;
        long const boundaries[] = {q.divisor, long(q.divisor) * q.modulus};
        for (long const boundary : boundaries) {
          if (c <= 0 || boundary <= c || boundary % c != 0 || boundary / c >= extent || cuts == most) continue;
          int place = cuts;
          while (place > 0 && cut[place - 1] > boundary / c) --place;
          if (place > 0 && cut[place - 1] == boundary / c) continue;
          for (int j = cuts++; j > place; --j) cut[j] = cut[j - 1];
          cut[place] = boundary / c;
        }
      }
    }
    for (int i = 1; i < cuts; ++i)
      if (cut[i] % cut[i - 1] != 0) cuts = 1;
    if (extent % cut[cuts - 1] != 0 || count + cuts + (e.axis_count - 1 - x) > digit_sum::max_digits) cuts = 1;
    for (int i = cuts; i-- > 0;) {
      long const next = i + 1 < cuts ? cut[i + 1] : extent;
      all[count++] = {x, int(next / cut[i]), cut[i]};
    }
  }

  /// Multiples of the divisor are divided, the rest of the sum must stay below it. Then multiples of the modulus
  /// vanish, and the rest must stay below that.
  constexpr digit_sum resolved(index_expression const& e, quotient const& q) const {
    digit_sum outer = (*this)(e, q.of), rest = outer;
    outer.constant = 0;
    for (int k = 0; k < count; ++k) (outer.of[k] % q.divisor == 0 ? rest : outer).of[k] = 0;
    long const whole = floor_quotient(rest.constant, q.divisor);
    rest.constant -= whole * q.divisor;
    range const r = range_of(rest);
    outer.is_exact &= r.lower >= 0 && r.upper < q.divisor;
    outer.constant = whole;
    for (int k = 0; k < count; ++k) outer.of[k] /= q.divisor;
    if (q.modulus == 0) return outer;
    for (int k = 0; k < count; ++k)
      if (outer.of[k] % q.modulus == 0) outer.of[k] = 0;
    outer.constant = floor_remainder(outer.constant, q.modulus);
    range const m = range_of(outer);
    outer.is_exact &= m.lower >= 0 && m.upper < q.modulus;
    return outer;
  }
};

/// The place of an access in its operand, in elements, as a function of digits. Not exact for data-dependent indices.
constexpr digit_sum address_of(index_expression const& e, digits const& in, element_access const& a,
                               extents const& of) {
  digit_sum r;
  for (int d = 0; d < a.rank; ++d) {
    if (a.at[d].node >= 0) r.is_exact = false;
    digit_sum const s = in(e, a.at[d].sum);
    long const stride = of.stride(d);
    r.is_exact &= s.is_exact;
    r.constant += stride * s.constant;
    for (int k = 0; k < in.count; ++k) r.of[k] += stride * s.of[k];
  }
  return r;
}

}  // namespace ago::expression
