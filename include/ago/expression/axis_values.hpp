// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices of an expression with other values for its axes.
#pragma once

#include <ago/expression/canonical.hpp>
#include <ago/expression/digits.hpp>

namespace ago::expression::detail {

/// A digit as a function of the axes of another expression: of / divisor % modulus (none if it is 0), or that counted
/// from the digit's last value down. (Without defaults other than 0, see stand_in.)
struct digit_value {
  affine_sum of{};
  long divisor{}, modulus{};
  bool is_flipped{};
};

/// Copies indices of `from` into another expression, where digits of its axes are functions of other axes. Quotients of
/// one sum that are digits of it are united again: 6 * (i / 6) + 2 * (i / 2 % 3) + i % 2 is i.
struct axis_values {
  struct part {
    affine_sum of{};
    long divisor{}, modulus{}, factor{};
  };
  /// A constant plus multiples of quotients.
  struct sum {
    part all[digit_sum::max_digits]{};
    int count{};
    long constant{};

    constexpr void add(part const& p) {
      for (int i = 0; i < count; ++i)
        if (all[i].of == p.of && all[i].divisor == p.divisor && all[i].modulus == p.modulus) {
          all[i].factor += p.factor;
          return;
        }
      if (count < digit_sum::max_digits) all[count++] = p;
    }
  };

  index_expression const& from;
  canonical& into;
  digits const in{from};
  digit_value value[digit_sum::max_digits]{};
  bool fits{true};  ///< false: an index would have too many terms, or a quotient of quotients

  /// Makes axis x of `from` a function of other axes.
  constexpr void set_axis(int x, affine_sum const& of) {
    for (int k = 0; k < in.count; ++k) {
      digit const& g = in.all[k];
      long const next = g.weight * g.extent;
      if (g.axis == x) value[k] = {of, g.weight, next == from.extent[x] ? 0 : g.extent};
    }
  }

  constexpr void add(sum& s, int digit, long factor) const {
    if (in.all[digit].extent == 1 || factor == 0) return;
    digit_value const& v = value[digit];
    if (v.is_flipped) s.constant += factor * (in.all[digit].extent - 1);
    s.add({v.of, v.divisor, v.modulus, v.is_flipped ? -factor : factor});
  }
  constexpr affine_sum copy(digit_sum const& of) {
    sum s;
    s.constant = of.constant;
    for (int k = 0; k < in.count; ++k) add(s, k, of.of[k]);
    return made(s);
  }
  /// An index of `from`.
  constexpr affine_sum copy(affine_sum const& of) {
    digit_sum const d = in(from, of);
    return d.is_exact ? copy(d) : copied_as_written(of);
  }
  /// An axis of `from`.
  constexpr affine_sum copy_axis(int x) {
    sum s;
    for (int k = 0; k < in.count; ++k)
      if (in.all[k].axis == x) add(s, k, in.all[k].weight);
    return made(s);
  }

  /// An axis of the new expression, times a factor.
  constexpr affine_sum axis(int x, int factor = 1, long constant = 0) {
    term const t{std::int16_t(x), factor};
    return into.add(&t, 1, std::int32_t(constant));
  }
  constexpr range range_of(affine_sum const& s) const { return expression::range_of(into.to.body, s, into.to.extent); }
  constexpr affine_sum made(sum s) {
    unite(s);
    term terms[canonical::max_terms]{};
    int count = 0;
    auto const push = [&](int atom, long factor) {
      int i = 0;
      while (i < count && terms[i].atom != atom) ++i;
      if (i == canonical::max_terms) return void(fits = false);
      terms[i].atom = std::int16_t(atom);
      terms[i].coefficient += std::int32_t(factor);
      count += i == count;
    };
    for (int i = 0; i < s.count; ++i) {
      part p = s.all[i];
      range const r = range_of(p.of);
      if (p.modulus && r.lower >= 0 && r.upper < p.divisor * p.modulus) p.modulus = 0;
      if (p.modulus == 0 && p.divisor > 1 && r.lower >= 0 && r.upper < p.divisor) continue;
      if (p.divisor == 1 && p.modulus == 0) {
        s.constant += p.factor * p.of.constant;
        for (int k = p.of.first; k < p.of.first + p.of.count; ++k)
          push(into.to.body.terms[k].atom, p.factor * into.to.body.terms[k].coefficient);
        continue;
      }
      push(max_axes + quotient_of(p.of, p.divisor, p.modulus), p.factor);
    }
    return into.add(terms, count, std::int32_t(s.constant));
  }

 private:
  constexpr int quotient_of(affine_sum const& of, long divisor, long modulus) {
    for (int k = of.first; k < of.first + of.count; ++k) fits &= into.to.body.terms[k].atom < max_axes;
    return fits ? into.add(quotient{of, std::int32_t(divisor), std::int32_t(modulus)}) : 0;
  }
  static constexpr void unite(sum& s) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < s.count && !changed; ++i)
        for (int k = 0; k < s.count && !changed; ++k) {
          part &low = s.all[i], &high = s.all[k];
          if (i == k || low.modulus == 0 || !(low.of == high.of) || high.divisor != low.divisor * low.modulus ||
              high.factor != low.factor * low.modulus)
            continue;
          low.modulus *= high.modulus;
          high = s.all[--s.count];
          changed = true;
        }
    }
  }
  constexpr affine_sum copied_as_written(affine_sum const& of) {
    sum s;
    s.constant = of.constant;
    for (int i = of.first; i < of.first + of.count; ++i) {
      term const& t = from.body.terms[i];
      if (t.atom < max_axes) {
        for (int k = 0; k < in.count; ++k)
          if (in.all[k].axis == t.atom) add(s, k, t.coefficient * in.all[k].weight);
      } else {
        quotient const& q = from.body.quotients[t.atom - max_axes];
        s.add({copy(q.of), q.divisor, q.modulus, t.coefficient});
      }
    }
    return made(s);
  }
};

}  // namespace ago::expression::detail
