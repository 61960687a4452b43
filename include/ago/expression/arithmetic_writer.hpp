// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic that is added to an expression.
#pragma once

#include <ago/expression/canonical.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// Adds arithmetic to an expression; what a number makes trivial is left out.
struct arithmetic_writer {
  canonical& into;

  constexpr int number(double x) const {
    return into.add(node{node_kind::number, {-1, -1, -1}, __builtin_bit_cast(std::uint32_t, float(x))});
  }
  constexpr int make(node_kind k, int a, int b = -1, int c = -1) const {
    return into.add(node{k, {std::int16_t(a), std::int16_t(b), std::int16_t(c)}});
  }
  constexpr bool is_number(int n) const { return at(n).kind == node_kind::number; }
  constexpr bool is_number(int n, float x) const { return is_number(n) && at(n).number() == x; }

  constexpr int multiply(int a, int b) const {
    if (is_number(a, 1)) return b;
    if (is_number(b, 1)) return a;
    if (is_number(a) && is_number(b)) return number(double(at(a).number()) * double(at(b).number()));
    if (is_mask(b)) return masked(b, a);
    if (is_mask(a)) return masked(a, b);
    if (at(b).kind == node_kind::divide && is_number(at(b).operand[0], 1))
      return make(node_kind::divide, a, at(b).operand[1]);
    return make(node_kind::multiply, a, b);
  }
  constexpr int add(int a, int b) const { return make(node_kind::add, a, b); }
  constexpr int subtract(int a, int b) const { return make(node_kind::subtract, a, b); }
  constexpr int negate(int a) const { return multiply(a, number(-1)); }
  /// a < b. Whether a number is less than something that is clipped follows from that before, unless the bound is
  /// beyond the number: 0 < min(max(x, 0), 6) if 0 < x. (Also of NaN, which is kept when it is clipped.)
  constexpr int less(int a, int b) const {
    if (is_number(a))
      for (int x = b; x >= 0; x = without_bound(x, at(a).number(), true)) b = x;
    else if (is_number(b))
      for (int x = a; x >= 0; x = without_bound(x, at(b).number(), false)) a = x;
    return make(node_kind::less, a, b);
  }

 private:
  constexpr node const& at(int n) const { return into.to.body.nodes[n]; }
  /// What n clips, if its bound does not matter where it is compared with a number, which is on the left of < or on the
  /// right; otherwise -1.
  constexpr int without_bound(int n, float number, bool is_left) const {
    node const& x = at(n);
    bool const is_upper = x.kind == node_kind::minimum;
    if (!is_upper && x.kind != node_kind::maximum) return -1;
    for (int k = 0; k < 2; ++k) {
      if (!is_number(x.operand[k])) continue;
      float const bound = at(x.operand[k]).number();
      bool const matters = is_left ? (is_upper ? !(number < bound) : !(bound <= number))
                                   : (is_upper ? !(number <= bound) : !(bound < number));
      if (!matters) return x.operand[1 - k];
    }
    return -1;
  }
  /// Is it something where a condition holds, and 0 elsewhere, or the reverse?
  constexpr bool is_mask(int n) const {
    return at(n).kind == node_kind::select && (is_number(at(n).operand[1], 0) || is_number(at(n).operand[2], 0));
  }
  constexpr int masked(int mask, int x) const {
    node const m = at(mask);
    int const then = is_number(m.operand[1], 0) ? m.operand[1] : multiply(x, m.operand[1]);
    int const otherwise = is_number(m.operand[2], 0) ? m.operand[2] : multiply(x, m.operand[2]);
    return make(node_kind::select, m.operand[0], then, otherwise);
  }
};

}  // namespace ago::expression::detail
